import Authorization
import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// One login for all who need the same.
@Suite struct CookieSessionsTests {
    private var sessions = CookieSessions()
    private let key: CookieSessions.Key

    init() { key = CookieSessions.Key(Self.login(), origin: "http://a.test") }

    /// Renews within 300 s, is tried again 60 s after it was refused, and takes 30 s at most.
    private static func login(_ user: String = "ada") -> CookieLogin {
        CookieLogin(.form([.init(name: "name", value: user)]), place: "/_session", cookie: "AuthSession")
    }

    private struct Missing: Error {}

    private func now(_ milliseconds: Int = 0) -> CookieSessions.Now {
        .init(milliseconds: milliseconds, seconds: 1_000_000 + milliseconds / 1000)
    }

    private func jar(_ value: String, _ attributes: String = "; Max-Age=600") throws -> CookieJar {
        var jar = CookieJar()
        var fields = FieldTable()
        fields.add("Set-Cookie", "AuthSession=\(value)\(attributes)")
        jar.take(fields, answering: try RequestHead(method: "POST", url: "http://a.test/_session"), now: 1_000_000)
        return jar
    }

    private mutating func begin(_ time: Int = 0) throws -> Int {
        guard case .fetch(let fetch) = sessions.ask(key, after: nil, waited: nil, now(time)) else {
            Issue.record("nobody was to log in")
            throw Missing()
        }
        return fetch
    }

    private mutating func ask(
        not generation: Int? = nil, for path: String = "/a", after fetch: Int? = nil, at time: Int = 0
    ) -> String {
        let refusal = generation.map { CookieSessions.Refusal(generation: $0, path: path) }
        return switch sessions.ask(key, after: refusal, waited: fetch, now(time)) {
        case .use(let session): "use \(session.jar["AuthSession"]?.value ?? "nothing")"
        case .fetch: "log in"
        case .wait: "wait"
        case .failed(let fault): fault.reason
        case .full: "full"
        }
    }

    @Test mutating func oneLogsInAndTheOthersWait() throws {
        let fetch = try begin()
        #expect(ask() == "wait" && ask(after: fetch) == "wait")
        sessions.won(try jar("c"), key, fetch: fetch, now())
        #expect(ask() == "use c" && ask(after: fetch) == "use c")
    }

    @Test mutating func otherOriginsAndOtherUsersHaveTheirOwn() throws {
        _ = try begin()
        for other in [
            CookieSessions.Key(key.login, origin: "https://a.test"),
            CookieSessions.Key(Self.login("bob"), origin: key.origin),
        ] {
            guard case .fetch = sessions.ask(other, after: nil, waited: nil, now()) else {
                Issue.record("it waits for another's login")
                return
            }
        }
    }

    @Test mutating func aRefusedCookieIsGoodForNobody() throws {
        let fetch = try begin()
        sessions.won(try jar("c"), key, fetch: fetch, now())
        #expect(ask(not: fetch) == "log in" && ask() == "wait")
    }

    /// Many find at the same time that a cookie is over: the one login that follows is the answer to all of them.
    @Test mutating func aCookieThatWasReplacedSinceIsRefusedForNobody() throws {
        let first = try begin()
        sessions.won(try jar("c"), key, fetch: first, now())
        #expect(ask(not: first) == "log in")
        sessions.won(try jar("d"), key, fetch: first + 1, now())
        #expect(ask(not: first) == "use d")
    }

    @Test(arguments: [
        ("; Max-Age=600", 299_000, "use c"), ("; Max-Age=600", 301_000, "log in"), ("", 1 << 40, "use c"),
    ])
    mutating func aCookieThatEndsSoonIsReplaced(attributes: String, time: Int, expected: String) throws {
        let fetch = try begin()
        sessions.won(try jar("c", attributes), key, fetch: fetch, now())
        #expect(ask(at: time) == expected)
    }

    @Test mutating func whileItIsReplacedTheOthersGoOnWithIt() throws {
        let fetch = try begin()
        sessions.won(try jar("c"), key, fetch: fetch, now())
        #expect(ask(at: 400_000) == "log in" && ask(at: 400_000) == "use c")
        // but not past its end
        #expect(ask(at: 600_000) == "log in")
    }

    @Test mutating func whoWaitedTakesEvenWhatIsShort() throws {
        let fetch = try begin()
        sessions.won(try jar("c", "; Max-Age=10"), key, fetch: fetch, now())
        #expect(ask(after: fetch) == "use c" && ask() == "log in")
    }

    @Test mutating func aRefusalIsRememberedForAWhile() throws {
        let fetch = try begin()
        sessions.failed(LoginFault(reason: "no", isRefusal: true), key, fetch: fetch, now())
        #expect(ask() == "no" && ask(at: 59_999) == "no" && ask(at: 60_000) == "log in")
    }

    @Test mutating func aFailureIsSharedByThoseWhoWaitedAlone() throws {
        let fetch = try begin()
        sessions.failed(LoginFault(reason: "500", isRefusal: false), key, fetch: fetch, now())
        #expect(ask(after: fetch) == "500" && ask() == "log in")
    }

    @Test mutating func aCookieIsUsedToItsEndWhereItsRenewalIsRefused() throws {
        let fetch = try begin()
        sessions.won(try jar("c"), key, fetch: fetch, now())
        #expect(ask(at: 550_000) == "log in")
        sessions.failed(LoginFault(reason: "no", isRefusal: true), key, fetch: fetch + 1, now(550_000))
        #expect(ask(at: 551_000) == "use c" && ask(at: 600_000) == "no")
    }

    @Test mutating func aRenewalThatFailsIsNotTriedByAll() throws {
        let fetch = try begin()
        sessions.won(try jar("c"), key, fetch: fetch, now())
        #expect(ask(at: 400_000) == "log in")
        sessions.failed(LoginFault(reason: "503", isRefusal: false), key, fetch: fetch + 1, now(400_000))
        #expect(ask(after: fetch + 1, at: 400_000) == "use c" && ask(at: 459_999) == "use c")
        #expect(ask(at: 460_000) == "log in")
    }

    @Test mutating func aCookieThatIsRefusedWhateverItIsStays() throws {
        let fetch = try begin()
        sessions.won(try jar("c"), key, fetch: fetch, now())
        sessions.fruitless(key, .init(generation: fetch, path: "/a"), now())
        #expect(ask(not: fetch, at: 59_999).contains("cool_down") && ask(at: 59_999) == "use c")
        #expect(ask(not: fetch, at: 60_000) == "log in")
    }

    /// Whoever may ask for what is refused to everybody does not keep the others' cookie from being renewed.
    @Test mutating func itIsRememberedForWhatWasAskedForAlone() throws {
        let fetch = try begin()
        sessions.won(try jar("c"), key, fetch: fetch, now())
        for number in 0..<1000 { sessions.fruitless(key, .init(generation: fetch, path: "/\(number)"), now(number)) }
        #expect(ask(not: fetch, for: "/999", at: 1_000).contains("cool_down"))
        #expect(ask(not: fetch, for: "/a", at: 1_000) == "log in")
    }

    private mutating func drop(_ generation: Int, at time: Int = 0) -> Bool {
        sessions.drop(key, .init(generation: generation, path: "/a"), now(time))
    }

    @Test mutating func whatIsDroppedIsWonAnew() throws {
        let fetch = try begin()
        sessions.won(try jar("c"), key, fetch: fetch, now())
        #expect(drop(fetch + 1) && ask() == "use c")
        #expect(drop(fetch) && ask() == "log in")
    }

    /// Nobody has seen whether another one helps: until then, what refuses each has no other won.
    @Test mutating func whatRefusesEachHasOneWonAnew() throws {
        let fetch = try begin()
        sessions.won(try jar("c"), key, fetch: fetch, now())
        #expect(drop(fetch))
        sessions.won(try jar("d"), key, fetch: try begin(), now())
        let refusal = CookieSessions.Refusal(generation: fetch + 1, path: "/a")
        #expect(!drop(fetch + 1, at: 59_999) && ask(at: 59_999) == "use d")
        #expect(ask(not: fetch + 1, at: 59_999).contains("cool_down"))
        sessions.taken(key, refusal)
        #expect(drop(fetch + 1, at: 59_999) && ask(at: 59_999) == "log in")
    }

    @Test mutating func whoGoesAwayLeavesItToTheNext() throws {
        let fetch = try begin()
        sessions.abandoned(key, fetch: fetch)
        #expect(ask() == "log in")
        // what comes of a login that was left counts no more
        sessions.won(try jar("c"), key, fetch: fetch, now())
        #expect(ask() == "wait")
    }

    @Test mutating func aLoginThatHangsIsNobodysToWaitFor() throws {
        _ = try begin()
        #expect(ask(at: 31_000) == "wait" && ask(at: 31_001) == "log in")
    }

    @Test mutating func anAnswerRenewsTheCookiesThatItWasAskedWith() throws {
        let fetch = try begin()
        sessions.won(try jar("c"), key, fetch: fetch, now())
        let renewed = try jar("d")
        sessions.renewed(key, generation: fetch + 1) { $0 = renewed }
        #expect(ask() == "use c")
        sessions.renewed(key, generation: fetch) { $0 = renewed }
        #expect(ask() == "use d")
    }

    @Test mutating func thereIsRoomForSoManyAlone() throws {
        let fetch = try begin()
        sessions.won(try jar("c"), key, fetch: fetch, now())
        for number in 1...CookieJar.most {
            let other = CookieSessions.Key(key.login, origin: "http://\(number).test")
            guard case .fetch(let fetch) = sessions.ask(other, after: nil, waited: nil, now(number)) else {
                Issue.record("somebody else's")
                return
            }
            sessions.won(try jar("o"), other, fetch: fetch, now(number))
        }
        #expect(ask() == "log in", "the oldest had to go")
    }
}
