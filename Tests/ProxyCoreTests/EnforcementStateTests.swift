import Authorization
import Interception
import Testing

@testable import ProxyCore

@Suite("Cached decisions, and the session that asks")
struct EnforcementStateTests {
    typealias Up = SteppingUp

    private func decide(_ talk: Conversation, _ decision: String = Enforced.decision(ttl: Enforced.later)) {
        talk.connects()
        talk.origin(decision)
        if talk.driver.dialing != nil { talk.connects() }
    }

    private func isAsked(_ talk: Conversation) -> Bool { talk.driver.dialing?.host == "am.test" }

    // MARK: what is known

    @Test func aDecisionIsUsedAgain() {
        let decisions = Decisions()
        let talk = Enforced.talk(Enforced.settings(), decisions)
        decide(talk)
        talk.origin(ok)
        talk.client(Up.get)
        #expect(!isAsked(talk) && talk.originGot().hasSuffix("Via: 1.1 usher\r\n\r\n"), "\(talk.notes)")
        talk.origin(ok)
        // until its time, which is the shorter one of AM's and the configuration's
        talk.driver.waits(59_000)
        let other = Enforced.talk(Enforced.settings(), decisions)
        #expect(!isAsked(other))
        let late = Conversation(Enforced.settings(), decisions: decisions)
        late.driver.pool.now = 60_001
        late.driver.tell(time: 1_000_000)
        late.client(Up.get)
        #expect(isAsked(late))
    }

    /// AM's own end of it comes before the configuration's.
    @Test func itEndsWhereAMSaysSo() {
        let decisions = Decisions()
        decide(
            Enforced.talk(Enforced.settings(), decisions), Enforced.decision(ttl: (1_000_000 + 11) * 1000))
        for (time, asks) in [(9_999, false), (10_000, true)] {
            let later = Conversation(Enforced.settings(), decisions: decisions)
            later.driver.pool.now = time
            later.driver.tell(time: 1_000_000)
            later.client(Up.get)
            #expect(isAsked(later) == asks, "\(time)")
        }
    }

    /// What is allowed for a transaction is allowed once.
    @Test func aDecisionForATransactionIsNotKept() {
        for (query, kept) in [("?_txid=t-1", 0), ("?txid=t-1", 1)] {
            let decisions = Decisions()
            let request = Up.get.replacing("api/cart", with: "api/cart\(query)")
                .replacing("\r\n\r\n", with: "\r\nX-Authenticate-Response: header\r\n\r\n")
            decide(
                Enforced.talk(Enforced.settings(), decisions, request),
                Enforced.decision(
                    ttl: Enforced.later, resource: "http://shop.test/api/cart\(kept == 0 ? "" : query)"))
            #expect(decisions.kept.count == kept, "\(query)")
        }
    }

    /// A reload counts for what is kept.
    @Test func aShorterMaxAgeEndsWhatIsKept() {
        let decisions = Decisions()
        decide(Enforced.talk(Enforced.settings(), decisions))
        for (maxAge, asks) in [(30_001, false), (30_000, true)] {
            let later = Conversation(Enforced.asking { $0.maxAge = maxAge }, decisions: decisions)
            later.driver.pool.now = 30_000
            later.driver.tell(time: 1_000_000)
            later.client(Up.get)
            #expect(isAsked(later) == asks, "\(maxAge)")
        }
    }

    @Test func aDenialToo() {
        let decisions = Decisions()
        let talk = Enforced.talk(Enforced.settings(), decisions)
        decide(talk, Enforced.decision("{\"GET\":false}", ttl: Enforced.later))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 403 "))
        let again = Enforced.talk(Enforced.settings(), decisions)
        #expect(again.clientGot().hasPrefix("HTTP/1.1 403 ") && !isAsked(again))
    }

    @Test(arguments: [0, -1, 1_000_000 * 1000, 1_000_001 * 1000])
    func whatEndsAtOnceIsNotKept(_ ttl: Int) {
        let decisions = Decisions()
        decide(Enforced.talk(Enforced.settings(), decisions), Enforced.decision(ttl: ttl))
        #expect(decisions.kept.count == 0)
    }

    @Test func forEverIsNotForEver() {
        let decisions = Decisions()
        decide(Enforced.talk(Enforced.settings(), decisions), Enforced.decision(ttl: .max))
        #expect(decisions.kept.count == 1)
        let none = Decisions()
        decide(Enforced.talk(Enforced.asking { $0.maxAge = 0 }, none), Enforced.decision(ttl: .max))
        #expect(none.kept.count == 0)
    }

    @Test func itIsForThisQuestionAlone() {
        let decisions = Decisions()
        decide(Enforced.talk(Enforced.settings(), decisions))
        for (request, asked) in [
            (Up.get, false), (Up.get.replacing("SESSION-A", with: "SESSION-U"), true),
            (Up.get.replacing("api/cart", with: "api/pay"), true),
            (Up.get.replacing("api/cart", with: "api/cart?x"), true),
            (Up.get.replacing("GET", with: "DELETE"), true),
            (Up.get.replacing("shop.test", with: "shop.test:8080"), false),
        ] {
            let talk = Enforced.talk(Enforced.settings(), decisions, request)
            #expect(isAsked(talk) == asked || !request.contains("http://shop.test/"), "\(request)")
        }
        #expect(isAsked(Enforced.talk(Enforced.asking { $0.application = "other" }, decisions)))
        #expect(isAsked(Enforced.talk(Enforced.asking { $0.environment = [.init("a", ["b"])] }, decisions)))
        #expect(isAsked(Enforced.talk(Enforced.asking { $0.realm = "/alpha" }, decisions)))
        let telling = Enforced.asking { $0.tellsAddress = true }
        #expect(isAsked(Enforced.talk(telling, decisions, from: "192.0.2.7")))
        #expect(!isAsked(Enforced.talk(Enforced.settings(), decisions, from: "192.0.2.7")))
        let other = Enforced.settings({
            $0.server = AuthorizationServer(url: "http://am.test/other", host: "am.test", realms: ["/", "/alpha"])
        })
        #expect(isAsked(Enforced.talk(other, decisions)))
        // as whom it is asked is no part of it
        #expect(!isAsked(Enforced.talk(Enforced.asking { $0.caller = .session("AGENT") }, decisions)))
    }

    /// A session's end, seen on its way to AM, ends what was decided for it.
    @Test(arguments: [
        "POST http://am.test/am/json/sessions?_action=logout HTTP/1.1\r\nHost: am.test\r\nCookie: iPlanetDirectoryPro=SESSION-A\r\nContent-Length: 0\r\n\r\n",
        "POST http://am.test/am/json/sessions?_action=logout HTTP/1.1\r\nHost: am.test\r\niPlanetDirectoryPro: SESSION-A\r\nContent-Length: 0\r\n\r\n",
        "POST http://am.test/am/json/sessions?_action=logout HTTP/1.1\r\nHost: am.test\r\nContent-Length: 23\r\n\r\n{\"tokenId\":\"SESSION-A\"}",
        "GET http://am.test/am/oauth2/connect/endSession HTTP/1.1\r\nHost: am.test\r\nCookie: iPlanetDirectoryPro=SESSION-A\r\n\r\n",
        "POST http://am.test/am/json/sessions?_action=logout&tokenId=SESSION-A HTTP/1.1\r\nHost: am.test\r\nContent-Length: 0\r\n\r\n",
        "POST http://am.test/am/json/sessions/SESSION-A?_action=logout HTTP/1.1\r\nHost: am.test\r\nContent-Length: 0\r\n\r\n",
        "POST http://am.test/am/json/sessions/SESSION%2DA?_action=logout HTTP/1.1\r\nHost: am.test\r\nContent-Length: 0\r\n\r\n",
        "POST http://am.test/am/json/sessions?_action=logout HTTP/1.1\r\nHost: am.test\r\nCookie: iPlanetDirectoryPro=\"SESSION-A\"\r\nContent-Length: 0\r\n\r\n",
        "GET http://am.test/am/UI/Logout?realm=/ HTTP/1.1\r\nHost: am.test\r\nCookie: iPlanetDirectoryPro=SESSION-A\r\n\r\n",
        "POST http://am.test/am/json//sessions?_action=logout HTTP/1.1\r\nHost: am.test\r\n\(Up.session)\r\nContent-Length: 0\r\n\r\n",
        "POST http://am.test/am/json/sessions?%5FACTION=Logout HTTP/1.1\r\nHost: am.test\r\nCookie: a=b, iplanetdirectorypro = \"SESSION%2DA\"\r\nContent-Length: 0\r\n\r\n",
        "POST http://am.test/am/json/sessions HTTP/1.1\r\nHost: am.test\r\n\(Up.session)\r\nContent-Length: 14\r\n\r\n_action=logout",
        "POST http://am.test/am/json/sessions?_action=logout HTTP/1.1\r\nHost: am.test\r\nCookie: iPlanetDirectoryPro=other\r\niPlanetDirectoryPro: SESSION-A\r\nContent-Length: 0\r\n\r\n",
        "POST http://am.test/am/identity/logout HTTP/1.1\r\nHost: am.test\r\nContent-Length: 19\r\n\r\nsubjectid=SESSION-A",
        "GET http://am.test/am/IDPSloRedirect/metaAlias/idp?SAMLRequest=x HTTP/1.1\r\nHost: am.test\r\n\(Up.session)\r\n\r\n",
    ])
    func aLogout(_ logout: String) {
        let decisions = Decisions()
        decide(Enforced.talk(Enforced.settings(), decisions))
        decide(Enforced.talk(Enforced.settings(), decisions, Up.get.replacing("SESSION-A", with: "SESSION-U")))
        #expect(decisions.kept.count == 2)
        let leaving = Enforced.talk(Enforced.settings(), decisions, logout)
        leaving.connects()
        leaving.origin(Up.json("{\"result\":\"Successfully logged out\"}"))
        #expect(leaving.clientGot().hasPrefix("HTTP/1.1 200 "), "\(leaving.notes)")
        #expect(decisions.kept.count == 1)
        #expect(isAsked(Enforced.talk(Enforced.settings(), decisions)))
    }

    /// Of sessions that the request does not show: nobody here knows which.
    @Test(arguments: [
        ("POST http://am.test/am/json/sessions?_action=logoutByHandle", true),
        ("POST http://am.test/am/json/sessions?_action=logoutByUser", true),
        ("GET http://am.test/am/oauth2/connect/endSession?id_token_hint=h", true),
        ("POST http://am.test/am/json/sessions?_action=refresh", false),
        ("GET http://am.test/am/json/sessions", false),
        ("POST http://other.test/am/json/sessions?_action=logoutByUser", false),
    ])
    func anEndOfOthers(_ line: String, _ ends: Bool) {
        for status in ["200 OK", "403 Forbidden"] {
            let decisions = Decisions()
            decide(Enforced.talk(Enforced.settings(), decisions))
            let host = line.contains("other") ? "other.test" : "am.test"
            let leaving = Enforced.talk(
                Enforced.settings(), decisions, "\(line) HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 2\r\n\r\n{}")
            leaving.connects()
            leaving.origin(Up.json("{}", status: status))
            #expect(leaving.clientGot().hasPrefix("HTTP/1.1 \(status)"), "\(leaving.notes)")
            #expect(decisions.kept.count == (ends && status.hasPrefix("200") ? 0 : 1), "\(status)")
        }
    }

    /// A login of the app's own that takes the place of its session.
    @Test func aLoginEndsTheOldOne() {
        let decisions = Decisions()
        // AM may tell the new one in the body alone
        for line in ["", "Set-Cookie: iPlanetDirectoryPro=SESSION-B; Path=/\r\n"] {
            decide(Enforced.talk(Enforced.settings(), decisions))
            let login = Enforced.talk(
                Enforced.settings(), decisions,
                "POST http://am.test/am/json/authenticate HTTP/1.1\r\nHost: am.test\r\n\(Up.session)\r\nContent-Length: 0\r\n\r\n"
            )
            login.connects()
            login.origin(Up.json("{\"tokenId\":\"SESSION-B\"}", fields: line))
            #expect(login.clientGot().hasPrefix("HTTP/1.1 200 ") && decisions.kept.count == 0, "\(login.notes)")
        }
    }

    /// So does a step-up for another resource, before which a Gateway stands.
    @Test func aStepUpElsewhereEndsTheOldOne() {
        let decisions = Decisions()
        var settings = Enforced.settings()
        settings.authorization[0].resources.append(.init(url: "http://gate.test/*"))
        decide(Enforced.talk(settings, decisions))
        let talk = Enforced.talk(settings, decisions, Up.get.replacing("shop.test", with: "gate.test"))
        talk.connects()
        talk.origin(Up.refused(Up.upgrade))
        talk.connects()
        #expect(decisions.kept.count == 1)
        talk.origin(Up.success)
        #expect(decisions.kept.count == 0, "\(talk.notes)")
    }

    @Test func aNewSessionEndsTheOldOne() {
        let decisions = Decisions()
        decide(Enforced.talk(Enforced.settings(), decisions))
        let talk = Enforced.talk(Enforced.settings(), decisions, Up.get.replacing("api/cart", with: "api/pay"))
        talk.connects()
        talk.origin(Enforced.decision("{}", advices: Up.upgrade, resource: "http://shop.test/api/pay"))
        talk.connects()
        talk.origin(Up.success)
        #expect(decisions.kept.count == 0, "\(talk.notes)")
    }

    /// A grant is for one sending: what is sent again is asked about again.
    @Test func eachSending() {
        var settings = Enforced.settings()
        var again = Rule(name: "again", when: .test(.status, [.exact("503")]))
        again.response = [Retry(RetryPolicy())]
        settings.rules = [again]
        let talk = Enforced.talk(settings)
        decide(talk, Enforced.decision())
        talk.origin("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
        talk.driver.waits(300)
        #expect(isAsked(talk), "\(talk.notes)")
    }

    // MARK: who asks

    @Test func noMoreThanMayAsk() {
        let decisions = Decisions()
        let settings = Enforced.asking { $0.concurrency = 2 }
        let first = Enforced.talk(settings, decisions)
        let second = Enforced.talk(settings, decisions)
        #expect(isAsked(first) && !isAsked(second))
        // what the one has learned, the other need not ask
        decide(first)
        #expect(second.driver.deadline == 45_000)
        decisions.ring(second)
        #expect(second.driver.dialing?.host == "shop.test", "\(second.notes)")
        let third = Enforced.talk(settings, decisions, Up.get.replacing("cart", with: "a"))
        let fourth = Enforced.talk(settings, decisions, Up.get.replacing("cart", with: "b"))
        let leaving = Enforced.talk(settings, decisions, Up.get.replacing("cart", with: "d"))
        let fifth = Enforced.talk(settings, decisions, Up.get.replacing("cart", with: "c"))
        third.driver.clientIsLost()
        leaving.driver.clientIsLost()
        decisions.ring(fifth, fourth)
        #expect(isAsked(fourth) && !isAsked(fifth))
        fifth.driver.waits(46_000)
        #expect(fifth.clientGot().hasPrefix("HTTP/1.1 503 "), "\(fifth.notes)")
    }

    /// A person may take minutes for it: others ask in the meantime.
    @Test func whoStepsUpHoldsNoPlace() {
        let decisions = Decisions()
        let settings = Enforced.asking { $0.concurrency = 1 }
        let first = Enforced.talk(settings, decisions)
        decide(first, Enforced.decision("{}", advices: Up.transaction))
        #expect(first.clientGot().isEmpty && first.originGot().contains("/authenticate?"), "\(first.notes)")
        #expect(isAsked(Enforced.talk(settings, decisions, Up.get.replacing("cart", with: "a"))))
    }

    @Test func asAnAgent() {
        let talk = Enforced.talk(Enforced.asking { $0.caller = .session("AGENT") })
        talk.connects()
        let question = talk.originGot()
        #expect(
            question.contains("Cookie: iPlanetDirectoryPro=AGENT\r\n")
                && question.contains("\"ssoToken\":\"SESSION-A\""))
        talk.origin(Up.json("{}", status: "401 Unauthorized"))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 "))
    }

    private static let login = Enforcement.Caller.login(AgentLogin(user: "agent", password: "pä ss", tree: "Agent"))

    @Test func asAnAgentThatLogsIn() {
        let cookies = DryCredentials<CookieSessions>()
        let settings = Enforced.asking { $0.caller = Self.login }
        let talk = Conversation(settings, cookies: cookies, decisions: Decisions())
        talk.client(Up.get)
        talk.connects()
        let login = talk.originGot()
        #expect(
            login.hasPrefix("POST /am/json/realms/root/authenticate?authIndexType=service&authIndexValue=Agent "),
            "\(login)")
        #expect(
            login.contains("X-OpenAM-Username: agent\r\nX-OpenAM-Password: =?UTF-8?B?cMOkIHNz?=\r\n")
                && !login.contains("SESSION"))
        talk.origin(Up.json("{\"tokenId\":\"A-1\"}", fields: "Set-Cookie: amlbcookie=07; Path=/\r\n"))
        talk.connects()
        #expect(talk.originGot().contains("Cookie: iPlanetDirectoryPro=A-1; amlbcookie=07\r\n"), "\(talk.notes)")
        // AM forgot it: once more, and then no more
        talk.origin(Up.json("{}", status: "401 Unauthorized"))
        talk.connects()
        #expect(talk.originGot().contains("X-OpenAM-Username: agent"))
        talk.origin(Up.json("{\"tokenId\":\"A-2\"}"))
        talk.connects()
        #expect(talk.originGot().contains("iPlanetDirectoryPro=A-2"))
        talk.origin(Enforced.decision())
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
        // it is kept for others
        let other = Conversation(settings, cookies: cookies, decisions: Decisions())
        other.client(Up.get)
        other.connects()
        #expect(other.originGot().contains("iPlanetDirectoryPro=A-2"))
        let forgotten = Up.json("{}", status: "401 Unauthorized")
        other.origin(forgotten)
        other.connects()
        other.origin(Up.json("{\"tokenId\":\"A-3\"}"))
        other.connects()
        other.origin(forgotten)
        #expect(other.clientGot().hasPrefix("HTTP/1.1 503 "), "\(other.notes)")
        // where no login helps, none is tried for a while; nor where it is the privilege that lacks
        for answer in [forgotten, Up.json("{}", status: "403 Forbidden")] {
            let later = Conversation(settings, cookies: cookies, decisions: Decisions())
            later.client(Up.get)
            later.connects()
            #expect(later.originGot().contains("iPlanetDirectoryPro=A-3"))
            later.origin(answer)
            #expect(later.clientGot().hasPrefix("HTTP/1.1 503 ") && later.driver.dials == 1, "\(later.notes)")
        }
        let notes = talk.notes.joined(separator: "\n")
        for secret in ["A-1", "A-2", "pä"] { #expect(!notes.contains(secret)) }
    }

    /// What was approved is not lost with the agent's session: the same is asked by another.
    @Test func anAgentThatIsForgottenMeanwhile() {
        let talk = Enforced.talk(Enforced.asking { $0.caller = Self.login })
        func answer(_ text: String) {
            talk.connects()
            _ = talk.originGot()
            talk.origin(text)
        }
        answer(Up.json("{\"tokenId\":\"A-1\"}"))
        answer(Enforced.decision("{}", advices: Up.transaction))
        answer(Up.success)
        answer(Up.json("{}", status: "401 Unauthorized"))
        answer(Up.json("{\"tokenId\":\"A-2\"}"))
        talk.connects()
        let again = talk.originGot()
        #expect(
            again.contains("Cookie: iPlanetDirectoryPro=A-2\r\n") && again.contains("\"TxId\":[\"t-1\"]"), "\(again)")
        talk.origin(Enforced.decision())
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot() == Enforced.okForClient, "\(talk.notes)")
    }

    @Test(arguments: [
        Up.json("{\"code\":401}", status: "401 Unauthorized"), Up.step, Up.json("{}"), Up.json("{\"tokenId\":\"\"}"),
    ])
    func anAgentThatIsRefused(_ answer: String) {
        let talk = Enforced.talk(Enforced.asking { $0.caller = Self.login })
        talk.connects()
        talk.origin(answer)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 ") && talk.driver.dialing == nil, "\(talk.notes)")
    }
}
