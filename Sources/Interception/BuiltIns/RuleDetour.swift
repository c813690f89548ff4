/// What an interceptor does beyond edits: it holds exchanges up, and makes calls of its own.
public enum RuleDetour: Sendable {
    case cookie(CookieLogin)
    case basic(BasicLogin)
}

/// A detour of an interceptor that applies.
public struct AppliedDetour: Sendable {
    public let interceptor: String
    public let detour: RuleDetour
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
