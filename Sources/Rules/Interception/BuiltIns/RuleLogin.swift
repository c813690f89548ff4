/// A login that an interceptor performs.
public enum RuleLogin: Sendable {
    case cookie(CookieLogin)
    case basic(BasicLogin)
}

/// The login of an interceptor that applies to a request.
public struct AppliedLogin: Sendable {
    public let interceptor: String
    public let login: RuleLogin
    public let hosts: HostGuard
}

/// A name and a password, and when they are sent.
public struct BasicLogin: Equatable, Sendable {
    public enum Sending: String, CaseIterable, Sendable {
        case always, missing, challenged
    }

    /// The value of the Authorization field.
    public let credentials: String
    public let sending: Sending
    /// Pages of other sites whose requests may carry the credentials.
    public let origins: PageOrigins

    public init(credentials: String, sending: Sending, origins: PageOrigins = PageOrigins()) {
        self.credentials = credentials
        self.sending = sending
        self.origins = origins
    }
}
