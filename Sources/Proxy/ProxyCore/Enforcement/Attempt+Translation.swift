import Authorization
import Interception

/// Applies the translation of advices to a request on its way to the origin.
extension Attempt {
    /// Rewrites a transaction that the client sends back itself into the form that the resource expects.
    mutating func translateTransaction(
        _ info: inout ExchangeInfo, _ now: Int
    ) {
        guard let covered = info.engine.stepUp(for: info.received.head, info.received.body.framing),
            !covered.isEnforced,
            covered.resource.translation != nil
        else { return }
        do throws(Replay.Refusal) {
            let handed = try covered.policy.handedOn(
                info.received.head, body: info.received.body.isKept ? info.received.body.bytes : nil,
                to: covered.resource)
            guard let handed else { return }
            basis = (handed.head, handed.body == info.received.body.bytes ? nil : handed.body)
            renew()
            info.log.tell(.translated("the transaction that the client shows goes on as the resource expects it"), now)
        } catch {
            info.log.tell(.translated("the transaction that the client shows goes on as it is: \(error.reason)"), now)
        }
    }
}
