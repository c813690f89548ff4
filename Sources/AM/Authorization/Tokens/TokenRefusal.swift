internal import Formats
public import HTTPCodec

/// A resource server's refusal of a token (RFC 6750 §3, RFC 9449 §7.1 and §9).
public enum TokenRefusal: Equatable, Sendable {
    /// The token is no longer valid.
    case invalid
    /// The proof lacks the nonce in the response.
    case nonce

    /// Nil for other responses: an advice, or a valid token with insufficient scope.
    /// - Parameter statuses: the statuses that mean a refusal by themselves.
    public init?(_ head: ResponseHead, statuses: [Int]) {
        guard (400..<500).contains(head.status) else { return nil }
        let challenges = head.fields.values(named: "WWW-Authenticate").flatMap(Challenge.list)
        if challenges.contains(where: { ASCII.equal($0.scheme, "SSOADVICE") }) { return nil }
        let errors = challenges.filter { ASCII.equal($0.scheme, "Bearer") || ASCII.equal($0.scheme, "DPoP") }
            .compactMap { $0["error"] }
        if head.status == 401, errors.contains("use_dpop_nonce") {
            self = .nonce
        } else if errors.contains("insufficient_scope") {
            return nil
        } else if statuses.contains(head.status) || head.status == 401 && errors.contains("invalid_token") {
            self = .invalid
        } else {
            return nil
        }
    }
}
