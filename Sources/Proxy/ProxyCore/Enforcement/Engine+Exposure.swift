import Authorization
import HTTPCodec

/// Refuses requests that interceptors led past AM's decision.
extension Engine {
    /// The reason why a request may not go out, where AM must allow requests.
    /// - Parameter asked: the policy by which AM has been asked.
    func refusal(
        of attempt: borrowing Attempt, _ received: borrowing ReceivedRequest, asking asked: AuthorizationPolicy?
    ) -> ProxyError? {
        let sent = attempt.sent(received.head)
        if let field = hiddenURL(in: sent) { return .hiddenURL(field, sent.host) }
        // interceptors may have redirected the request to a resource that AM must allow, and no filter asks AM
        guard let head = attempt.head, let covered = stepUp(for: head, received.body.framing), covered.isEnforced,
            asked?.asks(like: covered.policy) != true
        else { return nil }
        return .unasked(head.host)
    }
}
