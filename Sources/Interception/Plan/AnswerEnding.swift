/// How interceptors have an answer end that is otherwise what it would be.
public struct AnswerEnding: Equatable, Sendable {
    /// Where its body breaks off, whatever length was announced.
    public struct Cut: Equatable, Sendable {
        /// So many bytes of it go out.
        public var bytes: Int
        /// The client's connection is reset then, and else closed.
        public var resets: Bool
        /// Whose wish it is.
        public private(set) var interceptor = ""

        public init(after bytes: Int, resets: Bool = false) {
            self.bytes = bytes
            self.resets = resets
        }

        func asked(by interceptor: String) -> Cut {
            var cut = self
            cut.interceptor = interceptor
            return cut
        }
    }

    public var cut: Cut?
    /// Its end, and that of the connection, come as much later as all of them together say.
    public private(set) var holds: [DelayWish]

    public init(cut: Cut? = nil, holds: [Distribution] = []) {
        self.cut = cut
        self.holds = holds.map { DelayWish(interceptor: "", time: $0) }
    }

    public var isPlain: Bool { cut == nil && holds.isEmpty }

    /// The earliest cut counts, and every hold.
    public mutating func add(_ other: AnswerEnding) {
        if let new = other.cut, new.bytes < cut?.bytes ?? .max { cut = new }
        holds += other.holds
    }

    /// The same as that interceptor's wish.
    func asked(by interceptor: String) -> AnswerEnding {
        var ending = self
        ending.cut = cut?.asked(by: interceptor)
        ending.holds = holds.map { DelayWish(interceptor: interceptor, time: $0.time) }
        return ending
    }

    /// In a few words.
    var words: String {
        guard let cut else { return "the answer's end comes late" }
        return "\(cut.resets ? "reset" : "truncate") after \(cut.bytes) bytes"
    }
}
