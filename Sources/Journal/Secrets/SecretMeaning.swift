/// What a value is whose name says that it holds a secret.
enum SecretMeaning: Equatable {
    case secret(SecretKind)
    /// As in `Authorization`.
    case credentials
    /// As in `Cookie`.
    case cookies
    /// As in `Set-Cookie`.
    case setCookie
    case url
    /// What stands before the `@` of a URL.
    case user

    /// Also where the name stands in other texts, as in `state:open`, a value behind it is one as a rule.
    var isSecretInItself: Bool {
        switch self {
        case .secret(.password), .secret(.oneTime), .credentials: true
        default: false
        }
    }

    /// What stands in an object of that name is one as well. What is called `state`, or `session`, has whole applications below it.
    var holdsBelow: Bool {
        switch self {
        case .secret(.code), .secret(.session): false
        case .secret: true
        default: false
        }
    }
}
