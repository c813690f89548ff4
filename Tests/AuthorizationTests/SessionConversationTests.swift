import Authorization
import Formats
import HTTPCodec
import Interception
import Testing

@Suite("Logins of Usher's own")
struct SessionConversationTests {
    private func policy(_ tree: String? = "Robot") -> AuthorizationPolicy {
        var policy = AuthorizationTests.policy()
        policy.sessions.source = .login
        policy.sessions.login.tree = tree
        policy.sessions.login.realm = "/alpha"
        policy.sessions.login.answers = [.init(callback: "NameCallback", response: .value("robot"))]
        policy.sessions.login.maxIdle = 60_000
        policy.sessions.login.maxTime = 90_000
        return policy
    }

    private static let name =
        "{\"type\":\"NameCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"User\"}],\"input\":[{\"name\":\"IDToken1\",\"value\":\"\"}]}"
    private static let info =
        "{\"latestAccessTime\":\"2026-11-22T10:00:00Z\",\"maxIdleExpirationTime\":\"2026-11-22T10:30:00.5Z\","
        + "\"maxSessionExpirationTime\":\"2026-11-22T12:00:00Z\"}"

    private final class Talk {
        private var machine: SessionConversation

        init(_ policy: AuthorizationPolicy, renewing old: SessionSource?) {
            machine = SessionConversation(policy, renewing: old)
        }

        func begin() -> SessionConversation.Command { machine.begin() }
        func failed(_ reason: String) -> SessionConversation.Command? { machine.failed(reason) }
        func answered(
            _ status: Int, _ body: String, _ lines: [(String, String)] = json
        ) -> SessionConversation.Command {
            machine.answered(status: status, fields: fields(lines), body: Array(body.utf8))
        }
    }

    @Test func aTreeIsPassedAndAMIsAskedHowLongItLasts() throws {
        let machine = Talk(policy(), renewing: nil)
        let first = try #require(machine.begin().call)
        #expect(
            first.head.url
                == "https://am.example.test/am/json/realms/root/realms/alpha/authenticate?authIndexType=service&authIndexValue=Robot"
        )
        #expect(first.head.fields["Cookie"] == nil && first.action == .startAuthenticate && first.body.isEmpty)
        #expect(first.payload?.tree == "Robot" && first.payload?.type == "service")
        let second = try #require(
            machine.answered(200, String(decoding: step("a1", Self.name), as: UTF8.self)).call)
        #expect(second.text.contains("robot") && second.carriesAnswers && second.head.query == nil)
        let third = try #require(
            machine.answered(200, "{\"tokenId\":\"S1\"}", json + [("Set-Cookie", "amlbcookie=02; Path=/")]).call)
        #expect(
            third.head.url
                == "https://am.example.test/am/json/realms/root/realms/alpha/sessions?_action=getSessionInfo")
        #expect(third.head.fields["Cookie"] == "iPlanetDirectoryPro=S1; amlbcookie=02" && third.action == .sessionInfo)
        let won = try #require(machine.answered(200, Self.info).won)
        #expect(won.0.token == "S1" && won.0.affinity == "02" && won.0.carrier == .provided)
        #expect(won.1 == SessionTimes(idle: 1_800_000, total: 7_200_000))
        #expect(won.1.lasts == 1_800_000 && won.1.due == 1_740_000)
    }

    @Test(arguments: [(403, "{}"), (200, "[]"), (200, "{\"latestAccessTime\":\"yesterday\"}")])
    func whereAMDoesNotTellTheConfigurationDoes(_ status: Int, _ body: String) throws {
        let machine = Talk(policy(nil), renewing: nil)
        #expect(try #require(machine.begin().call).head.query == nil)
        #expect(machine.answered(200, "{\"tokenId\":\"S1\"}").call != nil)
        #expect(machine.answered(status, body).won?.1 == SessionTimes(idle: 60_000, total: 90_000))
        let broken = Talk(policy(nil), renewing: nil)
        _ = broken.begin()
        let early = broken.failed("no connection")
        #expect(early == nil)
        _ = broken.answered(200, "{\"tokenId\":\"S1\"}")
        #expect(broken.failed("no connection")?.won?.0.token == "S1")
    }

    @Test func aSuccessWithoutASessionIsNone() {
        let machine = Talk(policy(), renewing: nil)
        _ = machine.begin()
        #expect(machine.answered(200, "{\"successUrl\":\"/\"}").failure?.code == .unusable)
    }

    @Test func idleTimeBeginsAnewOrALoginFollows() throws {
        let old = SessionSource(token: "S0", carrier: .provided)
        let machine = Talk(policy(), renewing: old)
        let reset = try #require(machine.begin().call)
        #expect(reset.head.query == "_action=getSessionInfoAndResetIdleTime")
        #expect(reset.head.fields["Cookie"] == "iPlanetDirectoryPro=S0")
        #expect(machine.answered(200, Self.info).won?.0.token == "S0")
        let dead = Talk(policy(), renewing: old)
        _ = dead.begin()
        #expect(dead.answered(401, "{\"code\":401}").call?.action == .startAuthenticate)
        #expect(dead.answered(200, "{\"tokenId\":\"S1\"}").call?.head.fields["Cookie"] == "iPlanetDirectoryPro=S1")
    }

    @Test func nobodyIsAsked() {
        var asking = policy()
        asking.person.isAsked = true
        asking.sessions.login.answers = []
        let machine = Talk(asking, renewing: nil)
        _ = machine.begin()
        let order = machine.answered(200, String(decoding: step("a1", Self.name), as: UTF8.self))
        #expect(order.failure?.code == .unanswered)
    }

    @Test func loginsAreToldApart() {
        var other = policy()
        other.sessions.login.answers = [.init(callback: "NameCallback", response: .value("robot2"))]
        #expect(policy().loginMaterial == policy().loginMaterial)
        #expect(policy().loginMaterial != other.loginMaterial && policy().loginMaterial != policy(nil).loginMaterial)
    }

    // MARK: what clients' own exchanges tell

    private func event(
        _ action: Action, _ url: String, _ status: Int = 200, _ lines: [(String, String)] = [], _ answer: String = "{}",
        isSure: Bool = true, sent: [(String, String)] = [], body: String = ""
    ) throws -> SessionEvent? {
        var response = ResponseHead(status: status, reason: "")
        for line in lines { response.fields.add(line.0, line.1) }
        return am.event(
            action, isSure: isSure, sent: try request("POST", url, sent), body: Array(body.utf8), response,
            try JSONValue(parsing: Array(answer.utf8)))
    }

    private static let authenticate = "https://am.example.test/am/json/authenticate"

    @Test func loginsThatPassAreNews() throws {
        let plain = try event(.authenticate, Self.authenticate, 200, [], "{\"tokenId\":\"S1\"}")
        #expect(plain == .news(.session(.init(token: "S1", carrier: .provided))))
        let cookie = try event(
            .startAuthenticate, Self.authenticate, 200,
            [("Set-Cookie", "iPlanetDirectoryPro=S2; Path=/"), ("Set-Cookie", "amlbcookie=03")], "{\"tokenId\":\"\"}")
        #expect(cookie == .news(.session(.init(token: "S2", carrier: .provided, affinity: "03"))))
        for (status, answer) in [
            (401, "{\"tokenId\":\"S\"}"), (200, "{\"authId\":\"a\",\"tokenId\":\"S\"}"), (200, "{}"), (200, "[]"),
        ] {
            #expect(try event(.authenticate, Self.authenticate, status, [], answer) == nil)
        }
        // another port, another scheme, another path of AM's host
        for url in [
            "https://am.example.test:8443/am/json/authenticate", "http://am.example.test/am/json/authenticate",
            "https://am.example.test/other/json/authenticate",
        ] {
            #expect(try event(.authenticate, url, 200, [], "{\"tokenId\":\"S\"}") == nil)
        }
        // what decides who gets the request behind a shared front end
        let foreign = try event(
            .authenticate, Self.authenticate, 200, [], "{\"tokenId\":\"S\"}", sent: [("Host", "other.example.test")])
        #expect(foreign == nil)
        // longer than any header
        let long = String(repeating: "s", count: 16 << 10)
        #expect(try event(.authenticate, Self.authenticate, 200, [], "{\"tokenId\":\"\(long)\"}") != nil)
        #expect(try event(.authenticate, Self.authenticate, 200, [], "{\"tokenId\":\"\(long)s\"}") == nil)
        let exchange = "https://am.example.test/am/oauth2/access_token"
        #expect(try event(.exchangeToken, exchange, 200, [], "{\"id_token\":\"\(long)s\"}") == nil)
        #expect(try event(.exchangeToken, exchange, 200, [], "{\"id_token\":\"h.p.s\"}") == .news(.idToken("h.p.s")))
        #expect(try event(.refreshToken, exchange, 400, [], "{\"id_token\":\"h.p.s\"}") == nil)
    }

    @Test func logoutsEndSessions() throws {
        let url = "https://am.example.test/am/json/sessions?_action=logout"
        let own = [("Cookie", "iPlanetDirectoryPro=S1")]
        #expect(try event(.logout, url, sent: own) == .ended(["S1"]))
        #expect(try event(.logout, url, sent: own, body: "{\"tokenId\":\"S2\"}") == .ended(["S2"]))
        #expect(try event(.logout, url, sent: own, body: "tokenId=S2") == .ended(["S2"]))
        #expect(try event(.logout, url + "&TokenId=S3", sent: own) == .ended(["S3"]))
        #expect(try event(.logout, url) == .left([]))
        #expect(try event(.logout, url, 500, sent: own) == nil)
        #expect(try event(.logout, url, isSure: false, sent: own, body: "tokenId=S2") == .left(["S1", "S2"]))
        // another scheme, another port
        for other in ["http://am.example.test", "https://am.example.test:8443"] {
            #expect(try event(.logout, url.replacing("https://am.example.test", with: other), sent: own) == nil)
        }
        let end = "https://am.example.test/am/oauth2/connect/endSession"
        #expect(try event(.endSession, end, 204) == .left([]))
        #expect(try event(.endSession, end, 204, sent: own) == .left(["S1"]))
        #expect(try event(.endSession, end, 400) == nil)
    }

    /// In every way in which some server may read it.
    @Test(
        arguments: [
            ("iPlanetDirectoryPro=S1", ["S1"]), ("a=b; iPlanetDirectoryPro=\"S1\"", ["S1", "\"S1\""]),
            ("iPlanetDirectoryPro = S1 ; c=d", ["S1", " S1 "]), ("a=b, iPlanetDirectoryPro=S1", ["S1"]),
            ("IPLANETDIRECTORYPRO=S1", ["S1"]), ("iPlanetDirectoryPro=S1,x", ["S1", "S1,x"]),
            ("iPlanetDirectoryPro=S%31", ["S1", "S%31"]),
            ("iPlanetDirectoryPro=S1; iPlanetDirectoryPro=S2", ["S1", "S2"]),
            ("iPlanetDirectoryPro=\"S1", ["S1", "\"S1"]), ("iPlanetDirectoryPro=", []), ("iPlanetDirectoryPro", []),
            ("other=S1", []), ("iPlanetDirectoryPro=\"\"", ["\"\""]),
        ] as [(String, Set<String>)])
    func sessionsThatACookieMayName(_ line: String, _ sessions: Set<String>) throws {
        let url = "https://am.example.test/am/json/sessions?_action=logout"
        #expect(am.sessions(in: try request("POST", url, [("Cookie", line)]), body: []) == sessions)
        let field = try request("POST", url, [("iPlanetDirectoryPro", "\"H\""), ("Cookie", line)])
        #expect(am.sessions(in: field, body: []) == sessions.union(["H", "\"H\""]))
    }
}

extension SessionConversation.Command {
    var call: ServerCall? { if case .send(let call) = self { call } else { nil } }
    var won: (SessionSource, SessionTimes)? {
        if case .won(let source, let times) = self { (source, times) } else { nil }
    }
    var failure: StepUp.Failure? { if case .failed(let failure) = self { failure } else { nil } }
}
