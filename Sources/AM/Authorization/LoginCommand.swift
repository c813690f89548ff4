/// The next step of a login.
public enum LoginCommand<Value: Sendable>: Sendable {
    /// - Parameter url: the URL as configured.
    case send(ServerCall, url: String)
    /// The credential that the login obtained.
    case won(Value)
    case failed(LoginFault)
}

/// The reason for a failed login.
public struct LoginFault: Error, Equatable, Sendable {
    /// One sentence.
    public var reason: String
    /// True if the service refuses the login, so a repetition would fail too.
    public var isRefusal: Bool

    static func broken(_ reason: String) -> Self { Self(reason: reason, isRefusal: false) }

    public init(reason: String, isRefusal: Bool) {
        self.reason = reason
        self.isRefusal = isRefusal
    }
}
