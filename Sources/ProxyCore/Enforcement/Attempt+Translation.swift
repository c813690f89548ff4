import Authorization
import HTTPCodec
import Interception

/// Applies the translation of advices to a request on its way to the origin.
extension Attempt {
    /// Rewrites a transaction that the client sends back itself into the form that the resource expects.
    mutating func translateTransaction(
        of received: borrowing ReceivedRequest, _ engine: Engine, _ log: inout ExchangeLog, _ now: Int
    ) {
        guard let covered = engine.stepUp(for: received.head, received.body.framing), !covered.isEnforced,
            covered.resource.translation != nil
        else { return }
        do throws(Replay.Refusal) {
            let handed = try covered.policy.handedOn(
                received.head, body: received.body.isKept ? received.body.bytes : nil, to: covered.resource)
            guard let handed else { return }
            basis = (handed.head, handed.body == received.body.bytes ? nil : handed.body)
            renew()
            log.tell(.translated("the transaction that the client shows goes on as the resource expects it"), now)
        } catch {
            log.tell(.translated("the transaction that the client shows goes on as it is: \(error.reason)"), now)
        }
    }
}
