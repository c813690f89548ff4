import Authorization
import Interception

/// What `authorization` means for a request on its way to the origin.
extension Exchange {
    /// Where the body goes out as it comes, what may name another method in it is looked for on the way.
    mutating func beginSearch() {
        body.search =
            filters?.enforcing == nil || body.isKept ? nil : HiddenRequest.search(for: sentHead)
    }

    /// Nothing past what names another method goes out, least of all the end that would make the request whole.
    /// - Returns: false where the request goes no further.
    mutating func isPassable(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Bool {
        guard body.search?.finds(bytes) == true else { return true }
        body.search = nil
        if hasStarted { cut(reset: true, &out) } else { answer(.hiddenMethod, isLast: true, &out) }
        return false
    }

    /// Has a transaction that the client hands back by itself go on as the resource expects it.
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
