import Authorization
import HTTPCodec
import Interception
import Testing

@Suite("Which advice counts")
struct AdviceJudgementTests {
    private static let url = "https://shop.example.test/api/a"

    private func redirect(_ location: String) -> Advice {
        Advice(source: .redirect, location: location, conditions: [.init("TransactionConditionAdvice", ["t"])])
    }

    private func doubt(_ location: String, _ request: RequestHead, body: String = "") -> String? {
        var policy = policy()
        policy.server.loginPages = ["https://login.example.test/sign-in"]
        return policy.doubt(of: redirect(location), in: exchange(request, body: body, status: 302))
    }

    @Test(arguments: [
        ("https://am.example.test/am", true), ("https://am.example.test:443/am/XUI/", true),
        ("//am.example.test/am/", true), ("https://login.example.test/sign-in/x", true),
        ("https://am.example.test/", false), ("http://am.example.test/am/", false),
        ("https://am.example.test:8443/am/", false), ("https://am.example.test/am/../x", false),
        ("https://login.example.test/", false), ("http://login.example.test/sign-in", false), ("/am/", false),
        ("", false), ("javascript:x", false), ("\\\\am.example.test\\am", false),
        ("https://x@am.example.test/am", false),
    ])
    func whereARedirectMayLead(_ location: String, _ counts: Bool) throws {
        #expect(try (doubt(location, request("GET", Self.url)) == nil) == counts)
    }

    @Test func aRelativeRedirectCountsAtAMItself() throws {
        let head = try request("GET", "https://am.example.test/am/page")
        #expect(doubt("/am/UI/Login", head) == nil && doubt("UI/Login", head) == nil)
        #expect(doubt("/x", head) != nil)
    }

    @Test(arguments: [
        ("?authIndexType=x", ""), ("?AUTHindexVALUE", ""), ("?%61uth%49ndexType", ""), ("?%2561uthIndexType", ""),
        ("?a;authIndexType=x", ""), ("?to=https%3A%2F%2Fam%3FauthIndexType%3Dx", ""), ("/authIndexType", ""),
        ("?goto=x", ""), ("?GOTO", ""), ("?a=b&%67oto=c", ""), ("?a=b;goto=c", ""), ("", "goto=x"),
        ("", "a=b&authIndexType=c"),
        ("", "a=%61uthIndexType"), ("", "{\"to\":\"\\u0061uth\\u0049ndexType=x\"}"), ("", "\\u005cu0061uthIndexType"),
        ("", "Content-Disposition: form-data; name=\"goto\"\r\n\r\nx"),
    ])
    func aRequestThatSaysItItself(_ rest: String, _ body: String) throws {
        let head = try request("POST", Self.url + rest)
        #expect(doubt("https://am.example.test/am/", head, body: body)?.contains("the request itself") == true)
        // a challenge cannot be handed on from a request
        let challenge = Advice(source: .header, conditions: [.init("TransactionConditionAdvice", ["t"])])
        #expect(policy().doubt(of: challenge, in: exchange(head, body: body)) == nil)
    }

    @Test(arguments: [
        ("?got=o", ""), ("?x=goto", ""), ("/goto", ""), ("?my_goto=x", ""), ("", "agoto=x"), ("", "auth index"),
        ("", "\\u0061uth\\u"),
    ])
    func ordinaryRequests(_ rest: String, _ body: String) throws {
        #expect(try doubt("https://am.example.test/am/", request("POST", Self.url + rest), body: body) == nil)
    }

    @Test(arguments: [
        ("?authIndexType=x", true), ("?a=%2561uthIndexType", true), ("?goto=x", false), ("", false),
    ])
    func whereTheClientCameFrom(_ rest: String, _ counts: Bool) throws {
        let head = try request("GET", Self.url, [("Referer", "https://am.example.test/am/" + rest)])
        #expect((doubt("https://am.example.test/am/", head) != nil) == counts)
    }

    // MARK: forms

    @Test func theBodyCountsWhereItIsAskedFor() throws {
        let standard = AuthorizationPolicy.Resource(url: "*")
        let asking = AuthorizationPolicy.Resource(url: "*", advice: .body)
        let plain = try request("POST", Self.url)
        let evaluation = try request("POST", "https://am.example.test/am/json/policies?_action=evaluate")
        let policy = policy()
        #expect(policy.forms(for: plain, sent: plain, standard) == [.header, .redirect])
        #expect(policy.forms(for: plain, sent: plain, asking) == .body)
        #expect(policy.forms(for: evaluation, sent: evaluation, standard) == [.header, .redirect, .body])
        // what was sent elsewhere is answered by somebody else
        #expect(policy.forms(for: evaluation, sent: plain, standard) == [.header, .redirect])
    }

    @Test func theHeaderIsOfferedWhereItCounts() throws {
        let head = try request("GET", Self.url)
        #expect(policy().offersHeader(on: head, .init(url: "*")))
        #expect(!policy().offersHeader(on: head, .init(url: "*", advice: [.redirect, .body])))
    }

    @Test(
        arguments: [
            ("GET", nil, 200, true), ("HEAD", .safe, 204, true), ("POST", nil, 200, false), ("PUT", nil, 299, false),
            ("POST", nil, 401, true), ("POST", nil, 302, true), ("POST", .any, 200, true),
            ("DELETE", .safe, 403, false),
        ] as [(String, AuthorizationPolicy.ReplayScope?, Int, Bool)])
    func afterASuccess(_ method: String, _ scope: AuthorizationPolicy.ReplayScope?, _ status: Int, _ expected: Bool)
        throws
    {
        let resource = AuthorizationPolicy.Resource(url: "*", replay: scope)
        let advice = Advice(source: .body, conditions: [.init("TransactionConditionAdvice", ["t"])])
        let refusal = try policy().judgement(
            of: advice, in: exchange(request(method, Self.url), resource, status: status)
        ).refusal
        #expect((refusal == nil) == expected)
        #expect(expected || refusal?.contains("replay: ") == true)
    }

    @Test func anEvaluationMayBeSentAgain() throws {
        let head = try request("POST", "https://am.example.test/am/json/policies?_action=evaluate")
        for scope in [nil, .safe, .any] as [AuthorizationPolicy.ReplayScope?] {
            let resource = AuthorizationPolicy.Resource(url: "*", replay: scope)
            #expect(policy().refusalToReplay(head, resource, bodyComplete: true, after: 200) == nil)
        }
    }

    // MARK: realms and trees

    private func refusal(
        _ name: String, _ value: String, _ trees: [String]? = nil, realm: String? = nil,
        source: Advice.Source = .header,
        _ url: String = url
    ) throws -> String? {
        let resource = AuthorizationPolicy.Resource(url: "*", trees: trees.map { $0.map { TreePattern($0) } })
        let advice = Advice(source: source, realm: realm, conditions: [.init(name, [value])])
        return try policy().judgement(of: advice, in: exchange(request("POST", url), resource)).refusal
    }

    private static let service = "AuthenticateToServiceConditionAdvice"

    @Test(
        arguments: [
            ("Any", nil, true), ("/alpha:Any", nil, true), ("/ALPHA:Any", nil, true), ("alpha:Any", nil, true),
            (":Any", nil, true),
            ("/:Any", nil, true), ("/beta:Any", nil, false), ("/alpha/beta:Any", nil, false),
            ("StepUp", ["StepUp"], true),
            ("/alpha:StepUp", ["StepUp"], true), ("stepup", ["StepUp"], false), ("Evil", ["StepUp", "Other"], false),
            ("Other", ["StepUp", "Other"], true), ("StepUp2", ["StepUp*"], true), ("StepUp2", ["StepUp"], false),
            ("/beta:StepUp", ["StepUp"], false), ("/beta:StepUp", ["/beta:StepUp"], true),
            ("/beta:StepUp", ["/BETA:Step*"], true),
            ("StepUp", ["/beta:StepUp"], false), ("StepUp", ["/:StepUp"], true), ("/alpha:StepUp", ["/:StepUp"], false),
            ("StepUp", [], false),
        ] as [(String, [String]?, Bool)])
    func trees(_ value: String, _ trees: [String]?, _ allowed: Bool) throws {
        for name in [Self.service, "AuthenticateToTreeConditionAdvice", "AuthSchemeConditionAdvice"] {
            #expect(try (refusal(name, value, trees) == nil) == allowed)
        }
    }

    @Test func aTreeRunsInTheRealmOfTheAdvice() throws {
        #expect(try refusal(Self.service, "StepUp", ["/alpha:StepUp"], realm: "/alpha") == nil)
        #expect(try refusal(Self.service, "StepUp", ["/alpha:StepUp"], realm: "/") != nil)
    }

    @Test func realms() throws {
        let transaction = "TransactionConditionAdvice"
        for realm in [nil, "", "/", "/alpha", "alpha/", "/ALPHA", "root/alpha"] {
            #expect(try refusal(transaction, "t", realm: realm) == nil)
        }
        #expect(try refusal(transaction, "t", realm: "/beta")?.contains("/beta") == true)
        #expect(try refusal("AuthenticateToRealmConditionAdvice", "/Alpha") == nil)
        #expect(try refusal("AuthenticateToRealmConditionAdvice", "/beta") != nil)
        #expect(
            try refusal("AuthLevelConditionAdvice", "3") == nil && refusal("AuthLevelConditionAdvice", "/beta:3") != nil
        )
        let evaluate = "https://am.example.test/am/json/realms/root/realms/beta/policies?_action=evaluate"
        #expect(try refusal(transaction, "t", source: .body, evaluate)?.contains("/beta") == true)
    }

    @Test(arguments: [
        (nil, "/"), ("", "/"), ("/", "/"), ("alpha", "/alpha"), ("/Alpha/", "/alpha"), ("root/alpha", "/alpha"),
    ])
    func theRealmIsSpelledAsConfigured(_ named: String?, _ expected: String) throws {
        let advice = Advice(source: .header, realm: named, conditions: [.init("TransactionConditionAdvice", ["t"])])
        let here = try exchange(request("GET", Self.url))
        #expect(policy().judgement(of: advice, in: here) == .stepUp(realm: expected))
        // a policy evaluation asks in a realm of its own
        let evaluate = "https://am.example.test/am/json/realms/root/realms/alpha/policies?_action=evaluate"
        let there = try exchange(request("POST", evaluate))
        #expect(
            policy().judgement(of: advice, in: there) == .stepUp(realm: named ?? "" == "" ? "/alpha" : expected))
    }

    @Test func aBodyNamesNoTree() throws {
        #expect(try refusal(Self.service, "StepUp", source: .body) != nil)
        #expect(try refusal("AcmeRiskConditionAdvice", "high", source: .body) != nil)
        #expect(try refusal("AcmeRiskConditionAdvice", "x:high") == nil)
        #expect(try refusal("TransactionConditionAdvice", "t", source: .body) == nil)
        #expect(try refusal("AuthLevelConditionAdvice", "3", source: .body) == nil)
        #expect(try refusal(Self.service, "StepUp", ["StepUp"], source: .body) == nil)
        // AM's own decisions are AM's own word
        let evaluate = "https://am.example.test/am/json/policies?_action=evaluate"
        #expect(try refusal(Self.service, "StepUp", source: .body, evaluate) == nil)
        #expect(try refusal(Self.service, "StepUp", ["Other"], source: .body, evaluate) != nil)
    }

    // MARK: before AM is asked

    @Test func whatStandsInTheWayOfAReplayIsKnownBefore() throws {
        let resource = AuthorizationPolicy.Resource(url: "*")
        let session = SessionSource(token: "S", carrier: .cookie)
        let replay = Replay(policy: policy(), resource: resource, session: session)
        let transaction = Advice(source: .header, conditions: [.init("TransactionConditionAdvice", ["t"])])
        let head = try request("GET", Self.url)
        #expect(replay.obstacle(to: transaction, head, body: []) == nil)
        let start = Array("GET /a/".utf8) + [0xE4]
        let input = start + Array(" HTTP/1.1\r\nHost: shop.example.test\r\n\r\n".utf8)
        var parser = HeadParser()
        var odd = RequestHead()
        #expect(try parser.parse(input.span, into: &odd, limits: HeadLimits()) == input.count)
        try odd.settleHost(scheme: .https)
        #expect(replay.obstacle(to: transaction, odd, body: [])?.contains("UTF-8") == true)
        let tree = Advice(source: .header, conditions: [.init(Self.service, ["T"])])
        #expect(replay.obstacle(to: tree, odd, body: []) == nil)
        let evaluation = try request("POST", "https://am.example.test/am/json/policies?_action=evaluate")
        let asked = Advice(source: .body, conditions: transaction.conditions)
        #expect(replay.obstacle(to: asked, evaluation, body: Array("[]".utf8)) != nil)
        // looking ahead changes nothing
        #expect(replay.session == session)
    }
}
