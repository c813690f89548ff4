import Authorization
import Interception
import ProxyCore
import Testing

@Suite("Exchanges that wait for another's login")
struct WaitingLineTests {
    private typealias Line = WaitingLine<CookieJar, String>
    private typealias Obstacle = CredentialLedger<CookieJar>.Obstacle

    private static func key(_ origin: String, _ owner: String = "couch") -> CookieLoginKey {
        CookieLoginKey(
            CookieLogin(interceptor: owner, .form([]), place: "/_session", cookie: "AuthSession"), origin: origin)
    }

    private static func now(_ milliseconds: Int = 0) -> LoginTime {
        LoginTime(milliseconds: milliseconds, seconds: 1_000_000)
    }

    @Test func whatALoginComesToIsToldAllWhoWaitForIt() throws {
        var line = Line(.cookie, capacity: 3)
        let first = line.enter(.fetch(Self.key("a")), "1")
        _ = line.enter(.fetch(Self.key("a")), "2")
        _ = line.enter(.fetch(Self.key("b")), "3")
        let late = line.enter(.fetch(Self.key("a")), "4")
        #expect(late == nil)
        #expect(line.ended(Self.key("a")).map(\.1) == ["1", "2"])
        // one of them begins another, and the rest waits on
        let told = line.leave(try #require(first))
        #expect(told.isEmpty && line.ended(Self.key("a")).map(\.1) == ["2"] && line.count == 2)
    }

    @Test func roomIsForWhoeverCameFirst() throws {
        var line = Line(.cookie)
        let room = Obstacle.room("couch")
        let tickets = try ["1", "2", "3"].map { name in
            let ticket = line.enter(room, name)
            return try #require(ticket)
        }
        #expect(line.ended(Self.key("a")).map(\.1) == ["1"] && line.ended(Self.key("b", "other")).isEmpty)
        // whoever leaves without having been first had no turn
        let told = [1, 0, 2, 2].map { line.leave(tickets[$0]).map(\.1) }
        #expect(told == [[], ["3"], [], []] && line.count == 0)
    }

    /// Whichever way it ends.
    @Test func everyEndIsTold() {
        let key = Self.key("a")
        let ends: [(String, (inout CookieSessions, Int) -> Void)] = [
            ("won", { $0.won(CookieJar(), key, fetch: $1, Self.now()) }),
            ("failed", { $0.failed(LoginFault(reason: "no", isRefusal: true), key, fetch: $1, Self.now()) }),
            ("given up", { $0.abandoned(key, fetch: $1) }), ("lost", { $0.lost(key, fetch: $1) { _ in } }),
            ("won elsewhere", { logins, _ in logins.put(CookieJar(), key, Self.now()) }),
            ("forgotten", { logins, _ in logins.forget(key) }),
            ("forgotten with others", { logins, _ in logins.forget { _, _ in true } }),
            ("out of time", { logins, _ in _ = logins.claim(key, Self.now(1_000_000)) }),
        ]
        for (name, end) in ends {
            var logins = CookieSessions()
            guard case .fetch(let fetch) = logins.ask(key, after: nil, waited: nil, Self.now()) else {
                Issue.record("nobody logs in")
                continue
            }
            let (what, until) = logins.obstacle(key)
            let before = logins.takeEnded()
            #expect(what == .fetch(key) && until == key.hold + 1_001 && before.isEmpty)
            end(&logins, fetch)
            let ended = [logins.takeEnded(), logins.takeEnded()]
            #expect(ended == [[key], []], "\(name)")
        }
        var logins = CookieSessions()
        for number in 0..<CookieJar.mostUnderWay {
            _ = logins.ask(Self.key("\(number)"), after: nil, waited: nil, Self.now())
        }
        guard case .wait = logins.ask(key, after: nil, waited: nil, Self.now()) else {
            Issue.record("there is room")
            return
        }
        #expect(logins.obstacle(key).what == .room("couch") && logins.obstacle(key).until == .max)
    }
}
