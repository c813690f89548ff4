/// How interceptors have an answer end that is otherwise what it would be.
public struct AnswerEnding: Equatable, Sendable {
    /// Where its body breaks off, whatever length was announced.
    public struct Cut: Equatable, Sendable {
        /// So many bytes of it go out.
        public var bytes: Int
        /// The client's connection is reset then, and else closed.
        public var resets: Bool

        public init(after bytes: Int, resets: Bool = false) {
            self.bytes = bytes
            self.resets = resets
        }
    }

    public var cut: Cut?
    /// Its end, and that of the connection, come as much later as all of them together say.
    public var holds: [Distribution]

    public init(cut: Cut? = nil, holds: [Distribution] = []) {
        self.cut = cut
        self.holds = holds
    }

    public var isPlain: Bool { cut == nil && holds.isEmpty }

    /// The earliest cut counts, and every hold.
    public mutating func add(_ other: AnswerEnding) {
        if let new = other.cut, new.bytes < cut?.bytes ?? .max { cut = new }
        holds += other.holds
    }

    /// How long the end is held up, in milliseconds: drawn anew with every call.
    public func hold() -> Int {
        var chance = SystemRandomNumberGenerator()
        return min(holds.reduce(0) { $0 + $1.draw(&chance) }, Distribution.longest)
    }

    /// In a few words.
    var words: String {
        guard let cut else { return "the answer's end comes late" }
        return "\(cut.resets ? "reset" : "truncate") after \(cut.bytes) bytes"
    }
}
