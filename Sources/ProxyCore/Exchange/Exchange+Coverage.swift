import Authorization
import Interception

/// Applies `authorization` to a request on its way to the origin.
extension Exchange {
    /// Searches a streamed body for a method override.
    mutating func beginSearch() {
        body.search =
            filters?.enforcing == nil || body.isKept ? nil : HiddenRequest.search(for: sentHead)
    }

    /// Stops the body at a method override. Not even its end goes out, because that would complete the request.
    /// - Returns: false when the request must stop.
    mutating func isPassable(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Bool {
        guard body.search?.finds(bytes) == true else { return true }
        body.search = nil
        if hasStarted { cut(reset: true, &out) } else { answer(.hiddenMethod, isLast: true, &out) }
        return false
    }

    /// Rewrites a transaction that the client sends back itself into the form that the resource expects.
    mutating func handTransactionOn(_ out: borrowing Outbox) {
        guard engine.isTranslating, filters != nil, let covered = engine.stepUp(for: request, body.framing),
            !covered.isEnforced, covered.resource.translation != nil
        else { return }
        do throws(Replay.Refusal) {
            let handed = try covered.policy.handedOn(
                request, body: body.isKept ? body.bytes : nil, to: covered.resource)
            guard let handed else { return }
            attempt.basis = (handed.head, handed.body == body.bytes ? nil : handed.body)
            attempt.renew()
            log.tell(.translated("the transaction that the client shows goes on as the resource expects it"), out.now)
        } catch {
            log.tell(.translated("the transaction that the client shows goes on as it is: \(error.reason)"), out.now)
        }
    }
}
