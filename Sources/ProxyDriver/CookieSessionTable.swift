public import Authorization
internal import EventLoop
public import Interception
public import ProxyCore

/// The cookies of logins, shared by all loops. Asked only where an interceptor logs in for a cookie.
public final class CookieSessionTable: CookieSessionStore, Sendable {
    private let sessions = Locked(CookieSessions())

    public init() {}

    public func ask(
        _ key: CookieSessions.Key, not generation: Int?, after flight: Int?, _ now: CookieSessions.Now
    ) -> CookieSessions.Answer {
        sessions.withLock { $0.ask(key, not: generation, after: flight, now) }
    }

    public func won(_ jar: CookieJar, _ key: CookieSessions.Key, flight: Int) {
        sessions.withLock { $0.won(jar, key, flight: flight) }
    }

    public func failed(
        _ fault: CookieLoginFault, _ key: CookieSessions.Key, flight: Int, _ now: CookieSessions.Now
    ) {
        sessions.withLock { $0.failed(fault, key, flight: flight, now) }
    }

    public func abandoned(_ key: CookieSessions.Key, flight: Int) {
        sessions.withLock { $0.abandoned(key, flight: flight) }
    }

    public func fruitless(_ key: CookieSessions.Key, generation: Int, _ now: CookieSessions.Now) {
        sessions.withLock { $0.fruitless(key, generation: generation, now) }
    }

    public func renewed(_ jar: CookieJar, _ key: CookieSessions.Key, generation: Int) {
        sessions.withLock { $0.renewed(jar, key, generation: generation) }
    }
}
