/// The kind of a secret, as its alias shows.
public enum SecretKind: UInt8, CaseIterable, Sendable {
    /// An AM session, or a session cookie.
    case session
    /// Access, refresh and ID tokens, assertions, DPoP proofs, other JWTs.
    case token
    /// Values that are exchanged for a token once, and related ones: authorization codes, verifiers, state.
    case code
    case password
    /// AM's id of a running authentication.
    case authId
    /// One-time passwords and other answers that are valid once.
    case oneTime
    /// The id of a transaction that AM authorizes.
    case transaction
    case cookie
    /// API keys, CSRF tokens and similar values.
    case secret

    public var word: String {
        switch self {
        case .session: "session"
        case .token: "token"
        case .code: "code"
        case .password: "password"
        case .authId: "authId"
        case .oneTime: "one-time"
        case .transaction: "transaction"
        case .cookie: "cookie"
        case .secret: "secret"
        }
    }
}
