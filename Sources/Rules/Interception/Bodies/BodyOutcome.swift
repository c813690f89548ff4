/// The effect of a phase on a message and its body.
public struct BodyOutcome: Sendable {
    public enum Body: Equatable, Sendable {
        /// The received body is sent on with its framing.
        case asItCame
        /// These bytes replace the received body, with their own length.
        case replaced([UInt8])
        /// The message has no body. Its Content-Length, if any, describes the response to another request (HEAD) and stays.
        case none

        /// The bytes to send.
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
