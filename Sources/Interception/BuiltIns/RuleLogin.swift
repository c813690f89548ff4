/// What an interceptor does beyond edits: it logs in.
public enum RuleLogin: Sendable {
    case cookie(CookieLogin)
    case basic(BasicLogin)
}

/// The login of an interceptor that applies.
public struct AppliedLogin: Sendable {
    public let interceptor: String
    public let login: RuleLogin
    public let hosts: HostGuard
}

/// A name and a password, and when they are shown.
public struct BasicLogin: Equatable, Sendable {
    public enum Sending: String, CaseIterable, Sendable {
        case always, missing, challenged
    }

    /// Value of the field Authorization.
    public let credentials: String
    public let sending: Sending
    /// Pages of other sites that may have it sent along.
    public let origins: PageOrigins

    public init(credentials: String, sending: Sending, origins: PageOrigins = PageOrigins()) {
        self.credentials = credentials
        self.sending = sending
        self.origins = origins
    }
}
