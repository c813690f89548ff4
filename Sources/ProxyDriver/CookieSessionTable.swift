internal import EventLoop
public import ProxyCore

/// The cookies of logins, shared by all loops. Asked only where an interceptor logs in for a cookie.
public final class CookieSessionTable: CookieSessionStore, Sendable {
    private let sessions = Locked(CookieSessions())

    public init() {}

    public func change<Result>(_ body: (inout CookieSessions) -> Result) -> Result { sessions.withLock(body) }
}
