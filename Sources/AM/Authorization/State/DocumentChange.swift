/// A change of a document by this process. Other processes may change it at the same time.
public struct DocumentChange: Equatable, Sendable {
    /// The value before the first change.
    public var before: [UInt8]?
    /// The new value; nil if the document is removed.
    public var value: [UInt8]?

    public init(before: [UInt8]?, value: [UInt8]?) {
        self.before = before
        self.value = value
    }

    /// Merges the change into the current value. The last change wins, except that a counter never goes back behind one that
    /// another process has used.
    func merged(into known: [UInt8]?, of space: StateSpace) -> [UInt8]? {
        guard space == .counters, known != before, let value, let known, let mine = Self.counter(value),
            let others = Self.counter(known), others > mine
        else { return value }
        return known
    }

    private static func counter(_ bytes: [UInt8]) -> UInt64? { UInt64(String(decoding: bytes, as: UTF8.self)) }
}
