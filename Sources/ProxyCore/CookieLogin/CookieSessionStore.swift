/// Keeps `CookieSessions` for all who use the same: asked only where an interceptor logs in for a cookie.
public protocol CookieSessionStore: AnyObject {
    func change<Result>(_ body: (inout CookieSessions) -> Result) -> Result
}
