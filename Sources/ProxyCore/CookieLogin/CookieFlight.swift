import Authorization
import Interception

/// A login for cookies that is this exchange's to make. An object, so that no way out can leave the others waiting for it.
final class CookieFlight {
    private let store: any CookieSessionStore
    private let key: CookieSessions.Key
    let number: Int
    private var isOver = false

    init(_ store: any CookieSessionStore, _ key: CookieSessions.Key, _ number: Int) {
        self.store = store
        self.key = key
        self.number = number
    }

    func win(_ jar: CookieJar) -> CookieSessions.Session {
        isOver = true
        store.change { $0.won(jar, key, flight: number) }
        return CookieSessions.Session(jar: jar, generation: number)
    }

    func fail(_ fault: CookieLoginFault, _ now: CookieSessions.Now) {
        isOver = true
        store.change { $0.failed(fault, key, flight: number, now) }
    }

    deinit {
        if !isOver { store.change { $0.abandoned(key, flight: number) } }
    }
}
