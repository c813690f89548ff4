/// What a secret is, as its alias says it.
public enum SecretKind: UInt8, CaseIterable, Sendable {
    /// A session of AM's, or a cookie that is one.
    case session
    /// Access, refresh and ID tokens, assertions, proofs of possession, other JWTs.
    case token
    /// What is exchanged for a token once, and what belongs to that: authorization codes, verifiers, state.
    case code
    case password
    /// What AM knows an authentication under way by.
    case authId
    /// A password for one use, and other answers that are good once.
    case oneTime
    /// What AM knows a transaction by that it authorizes.
    case transaction
    case cookie
    /// API keys, CSRF tokens and the like.
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
