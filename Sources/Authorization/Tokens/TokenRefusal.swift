internal import Formats
public import HTTPCodec

/// What a resource says of the token that it was shown (RFC 6750 §3, RFC 9449 §7.1 and §9).
public enum TokenRefusal: Equatable, Sendable {
    /// It is good no more.
    case invalid
    /// The proof lacks the nonce that came with the answer.
    case nonce

    /// Nil for an answer that is about something else: an advice, and a token that is good and does not suffice.
    /// - Parameter statuses: those that say so whatever stands beside them.
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
