/// The cookies of one run without a network.
final class DryCookieSessions: CookieSessionStore {
    private var sessions = CookieSessions()

    func change<Result>(_ body: (inout CookieSessions) -> Result) -> Result { body(&sessions) }
}
