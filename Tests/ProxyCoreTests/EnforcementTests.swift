import Addresses
import Authorization
import Interception
import Testing

@testable import ProxyCore

/// AM's decisions of one test.
final class Decisions: DecisionStore {
    var kept = PolicyDecisions()
    private var line = QuestionLine<Void>()
    let isDry = false

    func digest(_ bytes: [UInt8]) -> UInt128? { bytes.reduce(7) { $0 &* 1_000_003 &+ UInt128($1) } }
    func change<Result>(_ body: (inout PolicyDecisions) -> Result) -> Result { body(&kept) }

    func begin(_ client: Int, most: Int) -> Bool { line.begin(client, most: most) }
    func finish(_ client: Int) { told += line.finish(client).map(\.0) }
    func enter(_ client: Int, most: Int) -> WaitingTicket? { line.enter(client, most: most, ()) }
    func leave(_ ticket: WaitingTicket) { told += line.leave(ticket).map(\.0) }

    private var told: [WaitingTicket] = []

    /// Tells whoever of these is to be told, as its loop's mailbox does.
    func ring(_ talks: Conversation...) {
        while !told.isEmpty {
            let ticket = told.removeFirst()
            for talk in talks { talk.driver.ticketCame(ticket) }
        }
    }
}

/// Resources that no Gateway stands before.
enum Enforced {
    typealias Up = SteppingUp

    static func settings(
        _ change: (inout AuthorizationPolicy) -> Void = { _ in }, _ how: (inout Enforcement) -> Void = { _ in }
    ) -> Settings {
        stepUpSettings { policy in
            policy.resources[0].isEnforced = true
            var enforcement = Enforcement()
            enforcement.application = "shop"
            how(&enforcement)
            policy.enforcement = enforcement
            change(&policy)
        }
    }

    static func talk(
        _ settings: Settings = Enforced.settings(), _ decisions: Decisions = Decisions(), _ request: String = Up.get,
        from address: String? = nil
    ) -> Conversation {
        let talk = Conversation(
            settings, cookies: DryCredentials<CookieSessions>(), decisions: decisions,
            source: ClientSource(address: address.flatMap { .init($0) }))
        talk.driver.tell(time: 1_000_000)
        talk.client(request)
        return talk
    }

    static func decision(
        _ actions: String = "{\"GET\":true,\"POST\":true}", advices: String = "{}", ttl: Int = 0,
        resource: String = "http://shop.test/api/cart"
    ) -> String {
        Up.json(
            "[{\"resource\":\"\(resource)\",\"actions\":\(actions),\"attributes\":{},\"advices\":\(advices),\"ttl\":\(ttl)}]"
        )
    }

    /// The same with the standard settings, by another request.
    static func talk(_ request: String) -> Conversation { talk(settings(), Decisions(), request) }

    /// The same where how AM is asked alone is changed.
    static func asking(_ how: (inout Enforcement) -> Void) -> Settings { settings({ _ in }, how) }

    static let later = 1_000_600 * 1000
    /// What the client gets of `ok`, at the time that is told.
    static let okForClient =
        "HTTP/1.1 200 OK\r\nVia: 1.1 usher\r\nDate: Mon, 12 Jan 1970 13:46:40 GMT\r\nContent-Length: 2\r\n\r\nok"
}

@Suite("Enforcement: AM decides before the request is sent")
struct EnforcementTests {
    typealias Up = SteppingUp

    @Test func whatIsAllowedGoesOut() {
        let talk = Enforced.talk()
        #expect(talk.driver.dialing?.host == "am.test", "\(talk.notes)")
        talk.connects()
        let question = talk.originGot()
        #expect(question.hasPrefix("POST /am/json/realms/root/policies?_action=evaluate HTTP/1.1\r\n"), "\(question)")
        #expect(question.contains("Cookie: iPlanetDirectoryPro=SESSION-A\r\n"))
        #expect(
            question.hasSuffix(
                "{\"resources\":[\"http://shop.test/api/cart\"],\"application\":\"shop\",\"subject\":{\"ssoToken\":\"SESSION-A\"}}"
            ))
        talk.origin(Enforced.decision())
        #expect(talk.driver.dialing?.host == "shop.test", "\(talk.notes)")
        talk.connects()
        #expect(
            talk.originGot()
                == "GET /api/cart HTTP/1.1\r\nHost: shop.test\r\n\(Up.session)\r\nVia: 1.1 usher\r\n\r\n")
        talk.origin(ok)
        #expect(talk.clientGot() == Enforced.okForClient && talk.record.attempts == 1)
        #expect(!talk.notes.joined().contains("SESSION"))
    }

    @Test(arguments: [
        ("{}", "{}"), ("{\"GET\":false}", "{}"), ("{\"POST\":true}", "{}"), ("{}", "{\"Odd\":[]}"),
    ])
    func whatIsNotStays(_ actions: String, _ advices: String) {
        let talk = Enforced.talk()
        talk.connects()
        talk.origin(Enforced.decision(actions, advices: advices))
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 403 Forbidden\r\n") && got.contains("error=http_request_denied"), "\(got)")
        #expect(talk.driver.dialing == nil && talk.driver.dials == 1)
    }

    /// Whatever goes wrong, nothing goes out.
    @Test(arguments: [
        (Up.json("{\"message\":\"Invalid value subject\"}", status: "400 Bad Request"), 403),
        (Up.json("{}", status: "401 Unauthorized"), 403), (Up.json("{}", status: "403 Forbidden"), 403),
        (Up.json("{}", status: "500 Internal Server Error"), 502), (Up.json("[]"), 502), (Up.json("x"), 502),
        ("HTTP/1.1 302 Found\r\nLocation: http://shop.test/\r\nContent-Length: 0\r\n\r\n", 502),
        ("garbage\r\n\r\n", 503),
        (Enforced.decision(resource: "http://shop.test/api/"), 502), (Enforced.decision(resource: "*"), 502),
        (Up.json("[" + String(repeating: "{},", count: 100_000) + "{}]"), 503),
    ])
    func whatIsNoDecision(_ answer: String, _ status: Int) {
        let talk = Enforced.talk()
        talk.connects()
        talk.origin(answer)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 \(status) "), "\(talk.notes)")
        #expect(talk.driver.dialing == nil && talk.driver.dials == 1, "\(talk.notes)")
    }

    @Test func amIsNotThere() {
        for fail in [
            { (talk: Conversation) in talk.driver.dialFails(.refused("no")) },
            { talk in
                talk.connects()
                talk.driver.originEnds()
            },
            { talk in talk.driver.waits(100_000) },
        ] as [(Conversation) -> Void] {
            let talk = Enforced.talk()
            fail(talk)
            #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 "), "\(talk.notes)")
            #expect(talk.driver.dialing?.host != "shop.test")
        }
    }

    @Test(arguments: [
        ("GET http://shop.test/api/../api/x HTTP/1.1", 400), ("GET http://shop.test/x/..%2fapi/x HTTP/1.1", 400),
        ("GET http://shop.test/api//x HTTP/1.1", 400), ("GET http://shop.test/api/%2e HTTP/1.1", 400),
    ])
    func whatMayBeReadOtherwise(_ line: String, _ status: Int) {
        let talk = Enforced.talk(request(line))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 \(status) "), "\(talk.notes)")
        #expect(talk.driver.dials == 0 && talk.driver.dialing == nil)
    }

    private func request(_ line: String, _ fields: String = Up.session) -> String {
        "\(line)\r\nHost: shop.test\r\n\(fields)\r\n\r\n"
    }

    @Test func withoutASession() {
        let talk = Enforced.talk(request("GET http://shop.test/api/cart HTTP/1.1", "X: y"))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 403 ") && talk.driver.dialing == nil)
    }

    /// AM would decide for one of them, and the resource might act for the other.
    @Test(arguments: [
        "Cookie: iPlanetDirectoryPro=A; iPlanetDirectoryPro=B",
        "Cookie: iPlanetDirectoryPro=A\r\nCookie: iPlanetDirectoryPro=B",
        "Cookie: iPlanetDirectoryPro=A\r\niPlanetDirectoryPro: B",
        "Cookie: iPlanetDirectoryPro=; iPlanetDirectoryPro=B",
    ])
    func twoSessions(_ fields: String) {
        let talk = Enforced.talk(request("GET http://shop.test/api/cart HTTP/1.1", fields))
        let got = talk.clientGot()
        #expect(
            got.hasPrefix("HTTP/1.1 400 ") && got.contains("several sessions") && talk.driver.dialing == nil, "\(got)")
        let same = Enforced.talk(
            request("GET http://shop.test/api/cart HTTP/1.1", "Cookie: iPlanetDirectoryPro=A\r\niPlanetDirectoryPro: A")
        )
        #expect(same.driver.dialing?.host == "am.test")
    }

    /// No table, no decision.
    @Test func nowhereToKeepThem() {
        let talk = Conversation(Enforced.settings())
        talk.client(Up.get)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 ") && talk.driver.dialing == nil)
    }

    /// The question is about what interceptors made of the request.
    @Test func theRequestThatGoesOut() {
        var settings = Enforced.settings()
        settings.rules = [
            Rule(name: "move", when: .test(.host, [.exact("shop.test")]), request: [SetPath("/api/other")])
        ]
        let talk = Enforced.talk(settings)
        talk.connects()
        #expect(talk.originGot().contains("[\"http://shop.test/api/other\"]"), "\(talk.notes)")
    }

    /// A body waits at the client until AM has answered, however large it is.
    @Test func aLargeBody() {
        let talk = Enforced.talk(
            "POST http://shop.test/api/cart HTTP/1.1\r\nHost: shop.test\r\n\(Up.session)\r\nContent-Type: image/png\r\nContent-Length: 5000000\r\n\r\n"
        )
        talk.connects()
        talk.origin(Enforced.decision())
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /api/cart "), "\(talk.notes)")
    }

    // MARK: step-ups

    @Test func aTransaction() {
        let decisions = Decisions()
        let talk = Enforced.talk(Enforced.settings(), decisions)
        talk.connects()
        talk.origin(Enforced.decision("{}", advices: Up.transaction))
        talk.connects()
        let call = talk.originGot()
        #expect(call.hasPrefix("POST /am/json/realms/root/authenticate?authIndexType=composite_advice&"), "\(call)")
        #expect(call.contains("Cookie: iPlanetDirectoryPro=SESSION-A\r\n"))
        talk.origin(Up.success)
        talk.connects()
        let again = talk.originGot()
        #expect(
            again.hasPrefix("POST /am/json/realms/root/policies?") && again.contains("\"TxId\":[\"t-1\"]"), "\(again)")
        talk.origin(Enforced.decision(ttl: Enforced.later))
        talk.connects()
        #expect(talk.originGot().hasPrefix("GET /api/cart HTTP/1.1\r\n"))
        talk.origin(ok)
        #expect(talk.clientGot() == Enforced.okForClient && decisions.kept.count == 0)
    }

    /// A new session takes the old one's place at the resource and at the client.
    @Test func anUpgrade() {
        let talk = Enforced.talk()
        talk.connects()
        talk.origin(Enforced.decision("{}", advices: Up.upgrade))
        talk.connects()
        _ = talk.originGot()
        talk.origin(Up.success)
        talk.connects()
        let again = talk.originGot()
        #expect(
            again.contains("\"ssoToken\":\"SESSION-B\"") && again.contains("iPlanetDirectoryPro=SESSION-B"), "\(again)")
        talk.origin(Enforced.decision())
        talk.connects()
        #expect(talk.originGot().contains("Cookie: iPlanetDirectoryPro=SESSION-B\r\n"))
        talk.origin(ok)
        #expect(talk.clientGot().contains("Set-Cookie: iPlanetDirectoryPro=SESSION-B"))
    }

    @Test func aTransactionThatIsRefused() {
        let talk = Enforced.talk()
        talk.connects()
        for _ in 0..<1 {
            talk.origin(Enforced.decision("{}", advices: Up.transaction))
            talk.connects()
            talk.origin(Up.success)
            talk.connects()
        }
        talk.origin(Enforced.decision("{}", advices: Up.transaction))
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 403 ") && got.contains("another transaction"), "\(got)")
        #expect(talk.driver.dialing == nil)
    }

    @Test func aStepUpThatFails() {
        let talk = Enforced.talk()
        talk.connects()
        talk.origin(Enforced.decision("{}", advices: Up.transaction))
        talk.connects()
        talk.origin(Up.json("{\"code\":401}", status: "401 Unauthorized"))
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 403 ") && got.contains("AM refused to authenticate"), "\(got)")
    }

    /// AM is the configured one, whatever a decision says; a realm that is not configured is none.
    @Test func aForeignRealm() {
        let talk = Enforced.talk()
        talk.connects()
        talk.origin(Enforced.decision("{}", advices: "{\"AuthenticateToServiceConditionAdvice\":[\"/evil:X\"]}"))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 403 ") && talk.driver.dialing == nil, "\(talk.notes)")
    }
}
