import HTTPCodec
import Interception

/// A phase that waits for code of others, with the message that it is about. An object: every exchange has room for one, and
/// hardly any has one.
final class SuspendedPhase {
    enum Message {
        /// The request, as it would go out.
        case request(RequestHead)
        /// The answer in `response`, and its body as it came.
        case response([UInt8])
        /// The same before a step-up looks at it.
        case preparation([UInt8])
    }

    let message: Message
    let suspension: Suspension
    /// What the phase has come to so far.
    let outcome: Outcome

    init(_ message: Message, _ suspension: Suspension, _ outcome: Outcome) {
        self.message = message
        self.suspension = suspension
        self.outcome = outcome
    }
}
