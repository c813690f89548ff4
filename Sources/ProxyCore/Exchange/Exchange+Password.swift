import HTTPCodec
import Interception
import Passwords

/// `clients.basic`: authenticates the client by its password (RFC 9110 §11.7, RFC 7617).
extension Exchange {
    /// Orders a check of the password, or asks the client for one.
    mutating func authenticate(_ context: inout ClientContext, _ out: inout Outbox) {
        context.user = nil
        do throws(ProxyError) {
            let check = try PasswordGate.check(
                request, engine.settings.users, flow: log.record.flow, client: context.source.address)
            stage.enter(.authenticating, until: out.now + PasswordGate.longestCheck)
            out.orders.append(.authenticate(id, check))
        } catch {
            refusePassword(error, &out)
        }
    }

    /// Handles the verdict of the check. A late verdict finds another stage and is ignored.
    mutating func authenticated(
        _ verdict: PasswordVerdict, _ context: inout ClientContext, _ out: inout Outbox
    ) {
        guard case .authenticating = stage.state else { return }
        if let refusal = PasswordGate.refusal(verdict) { return refusePassword(refusal, &out) }
        accept(&context, &out)
    }

    mutating func refusePassword(_ error: ProxyError, _ out: inout Outbox) {
        if error.status == 407, let name = BasicCredentials(request)?.user {
            log.tell(.unauthenticated(user: String(name.prefix(64))), out.now)
        }
        answer(error, &out)
    }

    private mutating func accept(_ context: inout ClientContext, _ out: inout Outbox) {
        context.user = BasicCredentials(request)?.user
        log.record.user = context.user
        if let user = context.user {
            if let share = context.share, !share.becomes(.user(user), engine.settings.limits) {
                return answer(.tooManyOfClient("the user \(user)"), isLast: true, &out)
            }
            if context.binding.passes(to: user) { out.orders.append(.unbind) }
        }
        do {
            try admitted(&context, &out)
        } catch {
            refuse(error, &out)
        }
    }
}
