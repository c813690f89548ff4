import Authorization
import Interception

/// The cookies of one run without a network.
final class DryCookieSessions: CookieSessionStore {
    private var sessions = CookieSessions()

    func ask(
        _ key: CookieSessions.Key, not generation: Int?, after flight: Int?, _ now: CookieSessions.Now
    ) -> CookieSessions.Answer {
        sessions.ask(key, not: generation, after: flight, now)
    }

    func won(_ jar: CookieJar, _ key: CookieSessions.Key, flight: Int) { sessions.won(jar, key, flight: flight) }

    func failed(_ fault: CookieLoginFault, _ key: CookieSessions.Key, flight: Int, _ now: CookieSessions.Now) {
        sessions.failed(fault, key, flight: flight, now)
    }

    func abandoned(_ key: CookieSessions.Key, flight: Int) { sessions.abandoned(key, flight: flight) }

    func fruitless(_ key: CookieSessions.Key, generation: Int, _ now: CookieSessions.Now) {
        sessions.fruitless(key, generation: generation, now)
    }

    func renewed(_ jar: CookieJar, _ key: CookieSessions.Key, generation: Int) {
        sessions.renewed(jar, key, generation: generation)
    }
}
