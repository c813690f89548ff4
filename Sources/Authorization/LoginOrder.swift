/// What a login does next.
public enum LoginOrder<Gain: Sendable>: Sendable {
    /// - Parameter url: where it goes, as the configuration has it.
    case send(ServerCall, url: String)
    /// What the login won.
    case won(Gain)
    case failed(LoginFault)
}

/// Why a login came to nothing.
public struct LoginFault: Error, Equatable, Sendable {
    /// One sentence.
    public var reason: String
    /// The service will have none of it, now and the next time.
    public var isRefusal: Bool

    static func broken(_ reason: String) -> Self { Self(reason: reason, isRefusal: false) }

    public init(reason: String, isRefusal: Bool) {
        self.reason = reason
        self.isRefusal = isRefusal
    }
}
