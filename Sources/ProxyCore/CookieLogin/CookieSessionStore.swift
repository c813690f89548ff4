public import Authorization
public import Interception

/// Keeps `CookieSessions` for all who use the same: asked only where an interceptor logs in for a cookie.
public protocol CookieSessionStore: AnyObject {
    func ask(
        _ key: CookieSessions.Key, not generation: Int?, after flight: Int?, _ now: CookieSessions.Now
    ) -> CookieSessions.Answer
    func won(_ jar: CookieJar, _ key: CookieSessions.Key, flight: Int)
    func failed(_ fault: CookieLoginFault, _ key: CookieSessions.Key, flight: Int, _ now: CookieSessions.Now)
    func abandoned(_ key: CookieSessions.Key, flight: Int)
    func fruitless(_ key: CookieSessions.Key, generation: Int, _ now: CookieSessions.Now)
    func renewed(_ jar: CookieJar, _ key: CookieSessions.Key, generation: Int)
}
