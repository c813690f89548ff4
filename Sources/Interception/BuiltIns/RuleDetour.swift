/// What an interceptor does beyond edits: it holds exchanges up, and makes calls of its own.
public enum RuleDetour: Sendable {
    case cookie(CookieLogin)
    case basic(BasicChallenge)
}

/// A name and a password for whoever asks for them.
public struct BasicChallenge: Equatable, Sendable {
    /// Value of the field Authorization.
    public let credentials: String

    public init(credentials: String) { self.credentials = credentials }
}
