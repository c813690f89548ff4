/// Changes that interceptors make to the end of a response.
public struct AnswerEnding: Equatable, Sendable {
    /// Truncation of the body, whatever length was announced.
    public struct Cut: Equatable, Sendable {
        /// The number of bytes sent before the cut.
        public var bytes: Int
        /// True resets the client's connection after the cut, false closes it.
        public var resets: Bool
        /// The interceptor that requested the cut.
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
    /// Delays of the end of the response and of the connection; they add up.
    public private(set) var holds: [DelayWish]

    public init(cut: Cut? = nil, holds: [Distribution] = []) {
        self.cut = cut
        self.holds = holds.map { DelayWish(interceptor: "", time: $0) }
    }

    public var isPlain: Bool { cut == nil && holds.isEmpty }

    /// Combines two endings: the earliest cut and all holds.
    public mutating func add(_ other: AnswerEnding) {
        if let new = other.cut, new.bytes < cut?.bytes ?? .max { cut = new }
        holds += other.holds
    }

    /// Returns a copy attributed to an interceptor.
    func asked(by interceptor: String) -> AnswerEnding {
        var ending = self
        ending.cut = cut?.asked(by: interceptor)
        ending.holds = holds.map { DelayWish(interceptor: interceptor, time: $0.time) }
        return ending
    }

    /// A few words for the log.
    var words: String {
        guard let cut else { return "the end of the response is delayed" }
        return "\(cut.resets ? "reset" : "truncate") after \(cut.bytes) bytes"
    }
}
