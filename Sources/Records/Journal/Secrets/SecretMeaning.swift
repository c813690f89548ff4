/// The meaning of a value with a secret name.
enum SecretMeaning: Equatable {
    case secret(SecretKind)
    /// As in `Authorization`.
    case credentials
    /// As in `Cookie`.
    case cookies
    /// As in `Set-Cookie`.
    case setCookie
    case url
    /// The part before the `@` of a URL.
    case user

    /// True if the name's value is usually a secret in any text. `state:open` is not.
    var isSecretInItself: Bool {
        switch self {
        case .secret(.password), .secret(.oneTime), .credentials: true
        default: false
        }
    }

    /// True if everything inside an object with this name is secret too. `state` and `session` may contain whole applications.
    var holdsBelow: Bool {
        switch self {
        case .secret(.code), .secret(.session): false
        case .secret: true
        default: false
        }
    }
}
