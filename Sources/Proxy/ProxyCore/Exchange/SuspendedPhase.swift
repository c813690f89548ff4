import HTTPCodec
import Interception

/// A phase that waits for external code, with its message. A class, because every exchange reserves room for one and
/// few have one.
final class SuspendedPhase {
    enum Message {
        /// The request as it would go out.
        case request(RequestHead)
        /// The body of the response as received.
        case response([UInt8], ResponseStage)
    }

    let message: Message
    let suspension: Suspension
    /// The outcome of the phase so far.
    let outcome: Outcome

    init(_ message: Message, _ suspension: Suspension, _ outcome: Outcome) {
        self.message = message
        self.suspension = suspension
        self.outcome = outcome
    }
}
