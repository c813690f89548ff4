import Addresses
import Authorization
import Formats
import Interception
import Passwords
import ProxyCore
import Testing

/// The open sessions, by id.
private final class SessionBook: TestSessionStore {
    var open: [String: (session: TestSession, secret: String)] = [:]

    func add(_ id: String, _ settings: Settings, _ stores: SharedStores = SharedStores(), secret: String = "key") {
        open[id] = (TestSession(id, Engine(settings), stores), secret)
    }

    func session(_ id: String) -> TestSession? { open[id]?.session }
    func session(of key: TestSessionKey) -> TestSession? {
        open[key.id].flatMap { $0.secret == key.secret ? $0.session : nil }
    }
}

@Suite("Test sessions of a request")
struct TestSessionTests {
    private let book = SessionBook()

    private static func marking(_ value: String) -> Settings {
        settings { $0.rules = [Rule(name: value, request: [SetHeader([Pair("X-Mark", value)])])] }
    }

    private func talk(
        _ settings: Settings = marking("base"), _ delivery: Delivery = .whole,
        source: ClientSource = ClientSource(address: nil)
    ) -> Conversation {
        book.add("s-one", Self.marking("one"))
        book.add("s-two", Self.marking("two"))
        return Conversation(settings, delivery: delivery, source: source, testSessions: book)
    }

    private func get(_ fields: String = "") -> String { "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\(fields)\r\n" }

    private func shown(_ user: String) -> String { "Proxy-Authorization: Basic \(Base64.encode(user.utf8))\r\n" }

    @Test(arguments: Delivery.all)
    func proxyCredentialsNameIt(_ delivery: Delivery) {
        let talk = talk(Self.marking("base"), delivery)
        talk.client(get(shown("s-one:key")))
        talk.connects()
        let got = talk.originGot()
        #expect(got.contains("X-Mark: one\r\n") && !got.contains("Proxy-Authorization"))
        talk.origin(ok)
        #expect(talk.record.testSession == "s-one" && talk.record.user == nil)
        // the next request on the connection is of no session
        talk.client(get())
        #expect(talk.originGot().contains("X-Mark: base\r\n"))
        talk.origin(ok)
        #expect(talk.record.testSession == nil)
    }

    @Test(arguments: Delivery.all)
    func aFieldNamesItAndStaysHere(_ delivery: Delivery) {
        let talk = talk(Self.marking("base"), delivery)
        for name in ["one", "two", "one"] {
            talk.client(get("Usher-Session: s-\(name):key\r\n"))
            talk.connects()
            let got = talk.originGot()
            #expect(got.contains("X-Mark: \(name)\r\n") && !got.contains("Usher-Session"))
            talk.origin(ok)
            #expect(talk.record.testSession == "s-\(name)")
        }
    }

    @Test func aPortNamesItForAllItsRequests() {
        let talk = talk(source: ClientSource(address: nil, testSession: "s-two"))
        talk.client(get("Usher-Session: s-one:key\r\n"))
        talk.connects()
        let got = talk.originGot()
        #expect(got.contains("X-Mark: two\r\n") && !got.contains("Usher-Session"))
        talk.origin(ok)
        book.open["s-two"] = nil
        talk.client(get())
        #expect(talk.clientGot().contains("the test session s-two has ended"))
    }

    /// A test that runs on without its rules would reach the real AM.
    @Test(
        arguments: [
            ("Proxy-Authorization: Basic \(Base64.encode("s-gone:key".utf8))\r\n", 407),
            ("Proxy-Authorization: Basic \(Base64.encode("s-one:wrong".utf8))\r\n", 407),
            (String(repeating: "Proxy-Authorization: Basic \(Base64.encode("s-one:key".utf8))\r\n", count: 2), 400),
            ("Usher-Session: s-gone:key\r\n", 403), ("Usher-Session: s-one\r\n", 403), ("Usher-Session: \r\n", 403),
            ("Usher-Session: s-one:key\r\nUsher-Session: s-one:key\r\n", 400),
        ])
    func anUnknownOneIsRefused(_ fields: String, _ status: Int) {
        let talk = talk()
        talk.client(get(fields))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 \(status) ") && talk.driver.dials == 0)
        #expect(talk.record.testSession == nil)
    }

    @Test func withoutSessionsItsKeyIsRefusedToo() {
        let talk = Conversation(Self.marking("base"))
        talk.client(get(shown("s-one:key")))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 407 ") && talk.driver.dials == 0)
    }

    /// Whoever may open sessions decides who uses the proxy; the field alone decides nothing.
    @Test func theKeyTakesThePlaceOfAPassword() {
        let talk = talk(PasswordTests.asking)
        talk.client(get(shown("s-one:key")))
        #expect(talk.driver.checks.isEmpty)
        talk.connects()
        #expect(talk.originGot().contains("X-Mark: one\r\n"))
        talk.origin(ok)
        _ = talk.clientGot()
        talk.client(get("Usher-Session: s-one:key\r\n"))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 407 "))
    }

    /// An exchange waits in the table of its loop, which has the tickets of all sessions.
    @Test func ticketsOfTwoLedgersDiffer() {
        #expect(WaitingTicket.firstNumber() != WaitingTicket.firstNumber())
    }

    @Test func theUserOfAnEarlierRequestDoesNotStay() {
        let talk = talk(PasswordTests.asking)
        talk.client(get(shown("alice:wonder:land")))
        talk.driver.checked(.right)
        talk.connects()
        talk.origin(ok)
        #expect(talk.record.user == "alice")
        talk.client("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\(shown("s-one:key"))\r\n")
        talk.connects()
        _ = talk.clientGot()
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.connects()
        talk.origin(ok)
        #expect(talk.record.user == nil && talk.record.testSession == "s-one")
    }

    @Test func aTunnelIsOfItsSession() {
        let talk = talk()
        talk.client("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\(shown("s-one:key"))\r\n")
        talk.connects()
        _ = talk.clientGot()
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.connects()
        #expect(talk.originGot().contains("X-Mark: one\r\n"))
        talk.origin(ok)
        #expect(talk.record.testSession == "s-one")
    }

    /// A session with new rules applies them to the next request.
    @Test func newRulesApplyToTheNextRequest() {
        let talk = talk()
        for value in ["first", "second"] {
            book.add("s-one", Self.marking(value))
            talk.client(get(shown("s-one:key")))
            talk.connects()
            #expect(talk.originGot().contains("X-Mark: \(value)\r\n"))
            talk.origin(ok)
        }
    }

    @Test func aRestartedRuleCountsFromTheBeginning() {
        let rule = Rule(
            name: "once", request: [Respond(DirectResponse(status: 418))], sampling: Sampling(first: 1))
        let talk = talk(settings { $0.rules = [rule] })
        book.add("s-one", settings { $0.rules = [rule.restarted] })
        for (fields, status) in [("", 418), (shown("s-one:key"), 418)] {
            talk.client(get(fields))
            #expect(talk.clientGot().hasPrefix("HTTP/1.1 \(status) "))
        }
        talk.client(get(shown("s-one:key")))
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 "), "the session counts on by itself")
    }
}
