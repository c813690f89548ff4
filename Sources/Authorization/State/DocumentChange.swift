/// What became of a document in one process, for others may change it at the same time.
public struct DocumentChange: Equatable, Sendable {
    /// What it was where it was changed first.
    public var before: [UInt8]?
    /// Nil where it is removed.
    public var value: [UInt8]?

    public init(before: [UInt8]?, value: [UInt8]?) {
        self.before = before
        self.value = value
    }

    /// What comes of it where this is there: the last who changes something has his way, but no counter goes back behind what
    /// another process has given out.
    func merged(into known: [UInt8]?, of space: StateSpace) -> [UInt8]? {
        guard space == .counters, known != before, let value, let known, let mine = Self.counter(value),
            let others = Self.counter(known), others > mine
        else { return value }
        return known
    }

    private static func counter(_ bytes: [UInt8]) -> UInt64? { UInt64(String(decoding: bytes, as: UTF8.self)) }
}
