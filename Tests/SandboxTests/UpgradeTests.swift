import Formats
import Testing

@testable import Sandbox

/// What policies ask of a session, and what meets it.
@Suite struct UpgradeTests {
    static let cases: [(path: String, advice: String, value: String)] = [
        ("service/StepUp", CompositeAdvice.service, "/:StepUp"), ("tree/StepUp", CompositeAdvice.tree, "/:StepUp"),
        ("scheme/StepUp", CompositeAdvice.scheme, "/:StepUp"), ("level/5", CompositeAdvice.level, "5"),
        ("Service/stepup", CompositeAdvice.service, "/:StepUp"),
    ]

    @Test(arguments: cases)
    func aConditionIsMetByItsTree(_ path: String, _ advice: String, _ value: String) throws {
        var world = World()
        let token = try world.signIn()
        let refused = try world.access("/shop/\(path)/x", session: token)
        #expect(try world.advice(refused)[advice]?[0]?.text == value)
        let first = try world.begin(CompositeAdvice(advice, value), session: token)
        let second = try world.answer(first, session: token)
        let stronger = try #require(try world.json(try world.answer(second, session: token))["tokenId"]?.text)
        #expect(stronger != token)
        #expect(try world.access("/shop/\(path)/x", session: stronger).status == 200)
        // the one before is over
        #expect(try world.access("/shop/\(path)/x", session: token).status == 302)
    }

    @Test func aLevelThatNoTreeReaches() throws {
        var world = World()
        let token = try world.signIn()
        #expect(try world.begin(CompositeAdvice(CompositeAdvice.level, "11"), session: token).status == 400)
        #expect(try world.begin(CompositeAdvice(CompositeAdvice.scheme, "Nope"), session: token).status == 400)
    }

    @Test func anotherRealm() throws {
        var world = World()
        let token = try world.signIn()
        let refused = try world.access("/shop/realm/alpha/x", session: token)
        #expect(refused["WWW-Authenticate"]?.contains("realm=\"/alpha\"") == true)
        let advice = CompositeAdvice(CompositeAdvice.realm, "/alpha")
        #expect(try world.begin(advice, session: token).status == 400)
        let step = try world.begin(advice, realm: "/alpha", session: token)
        let done = try world.answer(step, realm: "/alpha", session: token)
        let other = try #require(try world.json(done)["tokenId"]?.text)
        #expect(try world.access("/shop/realm/alpha/x", session: other).status == 200)
    }

    @Test func aSessionThatIsTooOld() throws {
        var world = World()
        let token = try world.signIn()
        #expect(try world.access("/shop/fresh/30/x", session: token).status == 200)
        world.now += 30
        let refused = try world.access("/shop/fresh/30/x", session: token)
        #expect(try world.advice(refused)[CompositeAdvice.force]?[0]?.text == "true")
        let step = try world.begin(CompositeAdvice(CompositeAdvice.force, "true"), session: token)
        let fresh = try #require(try world.json(try world.answer(step, session: token))["tokenId"]?.text)
        #expect(try world.access("/shop/fresh/30/x", session: fresh).status == 200)
    }

    @Test func aTransactionMayAskWhatATreeAsks() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access("/shop/with/poll/x", session: token))
        var step = try world.begin(CompositeAdvice(CompositeAdvice.transaction, id), session: token)
        step = try world.reply(step, World.credentials, session: token)
        for _ in 0..<3 { step = try world.reply(step, [[]], session: token) }
        #expect(try world.json(step)["tokenId"]?.text == token)
        #expect(try world.access("/shop/with/poll/x", session: token, id: id).status == 200)
    }

    @Test func whatIsDeniedHasNoAdvice() throws {
        var world = World()
        let token = try world.signIn()
        #expect(try world.access("/shop/deny/x", session: token).status == 403)
        #expect(try world.access("/shop/read/x", session: token).status == 200)
        let posted = try world.access("/shop/read/x", "POST", session: token)
        #expect(posted.status == 403)
        #expect(posted["WWW-Authenticate"] == nil)
    }

    @Test func decisionsTellOfEachMethodAndHowLongTheyHold() throws {
        var world = World()
        let admin = try world.signIn("policyadmin")
        let user = try world.signIn()
        func ask(_ path: String) throws -> JSONValue {
            let body = "{\"resources\":[\"http://a/shop/\(path)\"],\"subject\":{\"ssoToken\":\"\(user)\"}}"
            let answer = try world.send("POST", PoliciesTests.path, session: admin, fields: World.json, body: body)
            return try #require(try world.json(answer)[0])
        }
        let read = try ask("read/x")
        #expect(read["actions"]?["GET"] == .bool(true))
        #expect(read["actions"]?["POST"] == .bool(false))
        let deny = try ask("deny/x")
        #expect(deny["actions"]?["GET"] == .bool(false))
        #expect(deny["advices"] == .object([]))
        #expect(try ask("brief/10/x")["ttl"] == .integer((world.now + 10) * 1000))
        #expect(try ask("level/5/x")["advices"]?[CompositeAdvice.level] == .strings(["5"]))
    }

    @Test func anApplicationMayAskByItsToken() throws {
        var world = World()
        let user = try world.signIn()
        let basic = [
            (name: "Authorization", value: "Basic " + Base64.encode(Array("service:changeit".utf8)))
        ]
        let granted = try world.send(
            "POST", "/am/oauth2/realms/root/access_token", fields: OAuthTests.form + basic,
            body: "grant_type=client_credentials&scope=a")
        let token = try #require(try world.json(granted)["access_token"]?.text)
        func status(_ subject: String, _ bearer: String) throws -> Int {
            try world.send(
                "POST", PoliciesTests.path, fields: World.json + [("Authorization", "Bearer \(bearer)")],
                body: "{\"resources\":[\"http://a/shop/open/x\"]\(subject)}"
            ).status
        }
        #expect(try status(",\"subject\":{\"ssoToken\":\"\(user)\"}", token) == 200)
        #expect(try status("", token) == 400)
        #expect(try status(",\"subject\":{\"ssoToken\":\"\(user)\"}", "x") == 401)
    }

    @Test func theStatusCountsWhoTookWhoseTransaction() throws {
        var world = World()
        let mine = try world.signIn()
        let other = try world.signIn("user1")
        let id = try world.transaction(try world.access(session: mine))
        _ = try world.access(session: mine, id: id)
        _ = try world.begin(CompositeAdvice(CompositeAdvice.transaction, id), session: other)
        _ = try world.approve(id, session: mine)
        _ = try world.access(session: other, id: id)
        _ = try world.access("/shop/else", session: mine, id: id)
        #expect(try world.access(session: mine, id: id).status == 200)
        _ = try world.access(session: mine, id: id)
        _ = try world.access(session: mine, id: "made-up")
        let status = try world.json(try world.send("GET", "/sandbox/status"))
        let transactions = try #require(status["transactions"])
        #expect(transactions["created"] == .integer(6))
        #expect(transactions["approved"] == .integer(1))
        #expect(transactions["used"] == .integer(1))
        #expect(
            transactions["misused"]
                == ["unknown": 1, "foreign": 2, "elsewhere": 1, "again": 1, "unapproved": 1])
        #expect(status["users"] == ["demo": 1])
        #expect(status["sessions"]?["created"] == .integer(2))
    }
}
