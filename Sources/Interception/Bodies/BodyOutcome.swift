/// What a phase did to a message and its body.
public struct BodyOutcome: Sendable {
    public enum Body: Equatable, Sendable {
        /// What came goes on, in the framing in which it came.
        case asItCame
        /// These go on in its place, with their length; nothing of what came does.
        case replaced([UInt8])
        /// The message has no body. A Content-Length in its head is that of the answer to another request and stays.
        case none

        /// What goes on.
        public func bytes(insteadOf received: [UInt8]) -> [UInt8] {
            switch self {
            case .asItCame: received
            case .replaced(let bytes): bytes
            case .none: []
            }
        }
    }

    public var outcome: Outcome
    public var body: Body

    public init(outcome: Outcome = Outcome(), body: Body = .asItCame) {
        self.outcome = outcome
        self.body = body
    }
}
