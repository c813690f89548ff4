import Authorization
import HTTPCodec
import Interception
import ProxyCore
import Testing

@Suite("Sessions for requests without one")
struct SessionFilterTests {
    typealias Up = SteppingUp

    private static let get = "GET http://shop.test/api/cart HTTP/1.1\r\nHost: shop.test\r\nCookie: a=1\r\n\r\n"
    private static let info = Up.json(
        "{\"latestAccessTime\":\"2026-11-22T10:00:00Z\",\"maxIdleExpirationTime\":\"2026-11-22T10:30:00Z\","
            + "\"maxSessionExpirationTime\":\"2026-11-22T12:00:00Z\"}")
    private static let signIn =
        "HTTP/1.1 302 Found\r\nLocation: http://am.test/am/?goto=x\r\nContent-Length: 0\r\n\r\n"
    private static let denied = Up.json("{\"code\":401}", status: "401 Unauthorized")

    private func settings(_ change: (inout AuthorizationPolicy) -> Void = { _ in }) -> Settings {
        stepUpSettings {
            $0.sessions.source = .login
            $0.sessions.login.tree = "Robot"
            $0.sessions.login.answers = $0.answers
            change(&$0)
        }
    }

    private func won(_ token: String) -> String { Up.json("{\"tokenId\":\"\(token)\"}") }

    private func begins(
        _ model: SessionModel, _ settings: Settings, logins: (any LoginStore)? = nil, method: String = "GET"
    ) -> Conversation {
        let talk = model.client(settings, logins: logins)
        model.turn(talk)
        talk.client(Self.get.replacing("GET ", with: method + " "))
        return talk
    }

    /// As far as the session, with its first call to AM answered by that.
    private func logsIn(_ talk: Conversation, _ token: String = "OWN-1") {
        talk.connects()
        #expect(
            talk.originGot().hasPrefix(
                "POST /am/json/realms/root/authenticate?authIndexType=service&authIndexValue=Robot "))
        talk.origin(Up.step)
        talk.connects()
        #expect(talk.originGot().contains("robot"))
        talk.origin(won(token))
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /am/json/realms/root/sessions?_action=getSessionInfo "))
        talk.origin(Self.info)
    }

    private func asks(_ talk: Conversation, with token: String?) {
        if talk.driver.dialing != nil { talk.connects() }
        let sent = talk.originGot()
        #expect(sent.hasPrefix("GET /api/cart "), "\(talk.notes)")
        let cookie = token.map { "Cookie: a=1; iPlanetDirectoryPro=\($0)\r\n" } ?? "Cookie: a=1\r\n"
        #expect(sent.contains(cookie), "\(sent)")
    }

    @Test func aLoginComesFirstAndServesAll() {
        let model = SessionModel()
        let first = begins(model, settings())
        let second = begins(model, settings())
        #expect(first.driver.dialing?.host == "am.test" && second.driver.dialing == nil)
        logsIn(first)
        asks(first, with: "OWN-1")
        first.origin(ok.replacing("\r\nContent", with: "\r\nSet-Cookie: iPlanetDirectoryPro=OWN-1; Path=/\r\nContent"))
        // its session is none of the client's business
        #expect(!first.clientGot().contains("Set-Cookie"))
        model.own.ring()
        asks(second, with: "OWN-1")
        asks(begins(model, settings()), with: "OWN-1")
        #expect(model.own.places == 0)
    }

    /// How long it lasts is not worth waiting for.
    @Test func aSessionThatIsThereWaitsForNothing() {
        let model = SessionModel()
        let talk = begins(model, settings())
        talk.connects()
        talk.origin(Up.step)
        talk.connects()
        talk.origin(won("OWN-1"))
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /am/json/realms/root/sessions?_action=getSessionInfo "))
        talk.driver.waits(1_001)
        asks(talk, with: "OWN-1")
        talk.origin(ok)
        #expect(talk.noted("max_idle and max_time of the configuration count"), "\(talk.notes)")
    }

    @Test func aRequestWithASessionKeepsIt() {
        let model = SessionModel()
        let talk = model.client(settings())
        talk.client(Up.get)
        talk.connects()
        #expect(talk.originGot().contains("Cookie: iPlanetDirectoryPro=SESSION-A\r\n"))
    }

    @Test func whatTheResourceAsksForIsDoneWithTheSession() {
        let model = SessionModel()
        let talk = begins(model, settings())
        logsIn(talk)
        asks(talk, with: "OWN-1")
        talk.origin(Up.refused(Up.upgrade))
        talk.connects()
        #expect(talk.originGot().contains("Cookie: iPlanetDirectoryPro=OWN-1"))
        talk.origin(won("OWN-2"))
        asks(talk, with: "OWN-2")
        talk.origin(Up.refused())
        talk.connects()
        #expect(talk.originGot().contains("Cookie: iPlanetDirectoryPro=OWN-2"))
        talk.origin(Up.success)
        talk.connects()
        let replay = talk.originGot()
        #expect(replay.contains("_txid=t-1") && replay.contains("iPlanetDirectoryPro=OWN-2\r\n"), "\(replay)")
        talk.origin(ok)
        let answer = talk.clientGot()
        #expect(answer.hasPrefix("HTTP/1.1 200 OK") && !answer.contains("Set-Cookie"))
        // whoever comes next has the one that was upgraded
        asks(begins(model, settings()), with: "OWN-2")
        #expect(model.ended.calls.isEmpty)
    }

    @Test func aRefusedLoginIsNotRepeatedAtOnce() {
        let model = SessionModel()
        let first = begins(model, settings())
        let second = begins(model, settings())
        first.connects()
        first.origin(Self.denied)
        asks(first, with: nil)
        first.origin(ok)
        #expect(first.noted("the request goes out without"))
        model.own.ring()
        asks(second, with: nil)
        asks(begins(model, settings()), with: nil)
        model.waits(60_000)
        #expect(begins(model, settings()).driver.dialing?.host == "am.test")
    }

    @Test func whoeverLogsInMayLeave() {
        let model = SessionModel()
        let first = begins(model, settings())
        let second = begins(model, settings())
        first.connects()
        first.driver.clientIsLost()
        model.turn(second)
        model.own.ring()
        #expect(second.driver.dialing?.host == "am.test")
        logsIn(second)
        asks(second, with: "OWN-1")
    }

    @Test func itsTimeBeginsAnewBeforeItsEnd() {
        let model = SessionModel()
        let first = begins(model, settings())
        logsIn(first)
        asks(first, with: "OWN-1")
        first.origin(ok)
        model.waits(1_740_000)
        let due = begins(model, settings())
        due.connects()
        #expect(due.originGot().contains("?_action=getSessionInfoAndResetIdleTime "))
        // others go on with it meanwhile
        asks(begins(model, settings()), with: "OWN-1")
        due.origin(Self.info)
        asks(due, with: "OWN-1")
        // one that AM has no more is followed by another
        model.waits(1_740_000)
        let dead = begins(model, settings())
        dead.connects()
        dead.origin(Self.denied)
        logsIn(dead, "OWN-2")
        asks(dead, with: "OWN-2")
    }

    @Test func aSignInIsAskedForOnce() {
        let model = SessionModel()
        let first = begins(model, settings())
        logsIn(first)
        asks(first, with: "OWN-1")
        first.origin(Self.signIn)
        // it was won a moment ago: another would be no better
        #expect(first.clientGot().hasPrefix("HTTP/1.1 302 "))
        model.waits(20_000)
        let second = begins(model, settings())
        asks(second, with: "OWN-1")
        second.origin(Self.signIn)
        second.connects()
        #expect(second.originGot().contains("getSessionInfoAndResetIdleTime"))
        second.origin(Self.denied)
        logsIn(second, "OWN-2")
        asks(second, with: "OWN-2")
        second.origin(Self.signIn)
        #expect(second.clientGot().hasPrefix("HTTP/1.1 302 "))
        // AM says that it is good: it was refused for another reason
        model.waits(20_000)
        let third = begins(model, settings())
        asks(third, with: "OWN-2")
        third.origin("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno")
        third.connects()
        third.origin(Self.info)
        #expect(third.clientGot().hasSuffix("\r\n\r\nno"), "\(third.notes)")
    }

    @Test(arguments: [true, false])
    func AMIsToldOfTheEnd(_ isTold: Bool) {
        let model = SessionModel()
        let talk = begins(model, settings { $0.sessions.login.logsOut = isTold })
        logsIn(talk)
        asks(talk, with: "OWN-1")
        model.own.change { _ = $0.forget { _, _ in true } }
        // not while somebody uses it
        #expect(model.ended.calls.isEmpty)
        talk.origin(ok)
        #expect(
            model.ended.calls.map(\.head.url)
                == (isTold ? ["http://am.test/am/json/realms/root/sessions?_action=logout"] : []))
        #expect(model.ended.calls.allSatisfy { $0.head.fields["Cookie"] == "iPlanetDirectoryPro=OWN-1" })
    }

    /// What a browser asks before it asks is nobody's.
    @Test(arguments: ["OPTIONS", "TRACE"]) func somethingsAreAskedWithoutASession(_ method: String) {
        let talk = begins(SessionModel(), settings(), method: method)
        #expect(talk.driver.dialing?.host == "shop.test", "\(talk.notes)")
        talk.connects()
        #expect(!talk.originGot().contains("iPlanetDirectoryPro"))
    }

    @Test func itGoesNowhereElse() {
        let model = SessionModel()
        var elsewhere = settings()
        elsewhere.rules = [.init(name: "elsewhere", request: [SetHost("other.test")])]
        let talk = begins(model, elsewhere)
        #expect(talk.driver.dialing?.host == "other.test", "\(talk.notes)")
        talk.connects()
        #expect(!talk.originGot().contains("iPlanetDirectoryPro"))
    }

    /// Another one with the same answers, that shares no session with this one, ends first.
    @Test func aLoginWaitsForOthersWithItsAnswers() {
        let logins = LoginBook(capacity: 2)
        let settings = settings {
            $0.hold = 500
            $0.lockout = .init(refusals: 1, hold: 60_000)
        }
        func comes() -> (SessionModel, Conversation) {
            let model = SessionModel()
            return (model, begins(model, settings, logins: logins))
        }
        let first = comes().1
        #expect(first.driver.dialing?.host == "am.test")
        let (model, second) = comes()
        let late = comes().1
        #expect(second.driver.dialing == nil && second.driver.deadline == 500 && logins.ledger.waiting == 2)
        // those who wait for the one that waits know no more of it
        let behind = begins(model, settings, logins: logins)
        let crowded = comes().1
        asks(crowded, with: nil)
        crowded.origin(ok)
        #expect(crowded.noted("there is no room for more logins"))
        late.driver.waits(500)
        asks(late, with: nil)
        late.origin(ok)
        #expect(late.noted("the login took longer than authorization.hold allows") && logins.ledger.waiting == 1)
        logsIn(first)
        asks(first, with: "OWN-1")
        logins.ring(second, late)
        logsIn(second, "OWN-2")
        asks(second, with: "OWN-2")
        model.own.ring()
        asks(behind, with: "OWN-2")
        // two may be under way by now
        let third = comes().1
        _ = comes()
        let fourth = comes().1
        #expect(logins.ledger.waiting == 1)
        third.connects()
        third.origin(Up.step)
        third.connects()
        third.origin(Self.denied)
        logins.ring(fourth)
        asks(fourth, with: nil)
        fourth.origin(ok)
        #expect(fourth.noted("AM refused these answers 1 times in a row"))
        #expect(logins.ledger.waiting == 0)
    }
}
