import Authorization
import Formats
import HTTPCodec
import Interception
import Testing

@Suite("What AM is asked")
struct PolicyQuestionTests {
    private func question(
        _ url: String, method: String = "GET", lines: [(String, String)] = [], caller: SessionSource? = nil,
        transaction: String? = nil, address: String? = nil, _ change: (inout Enforcement) -> Void = { _ in }
    ) throws -> PolicyQuestion {
        var enforcement = Enforcement()
        enforcement.application = "shop"
        change(&enforcement)
        return try PolicyQuestion(
            about: request(method, url, lines), as: SessionSource(token: "S", carrier: .cookie, affinity: "01"),
            caller: caller, transaction: transaction, address: address, policy(), enforcement)
    }

    // MARK: the name

    @Test(arguments: [
        ("https://shop.example.test", "https://shop.example.test/"),
        ("HTTPS://SHOP.example.test.:443/a", "https://shop.example.test/a"),
        ("http://shop.example.test:8080/a/", "http://shop.example.test:8080/a/"),
        ("https://[::1]:8443/a", "https://[::1]:8443/a"),
        // one spelling for all that mean the same
        ("https://h.test/%61dm%69n", "https://h.test/admin"), ("https://h.test/a%2Bb%40c", "https://h.test/a+b@c"),
        ("https://h.test/a%20b%c3%a9", "https://h.test/a%20b%C3%A9"), ("https://h.test/a\"b", "https://h.test/a%22b"),
        ("https://h.test/a.b/.c/..d", "https://h.test/a.b/.c/..d"),
        // the query as it stands, but for what the app hands back
        ("https://h.test/a?b=%2f&c=d%20e+f&&g", "https://h.test/a?b=%2f&c=d%20e+f&&g"),
        ("https://h.test/a?_txid=t", "https://h.test/a"),
        ("https://h.test/a?x=1&%5Ftxid=t&y", "https://h.test/a?x=1&y"),
        ("https://h.test/a?", "https://h.test/a"), ("https://h.test/?a=//../", "https://h.test/?a=//../"),
    ])
    func theName(_ url: String, _ name: String) throws { #expect(try question(url).resource == name) }

    @Test(arguments: [
        "/a/../b", "/..", "/a/./b", "/.", "/a/%2e%2e/b", "/a/%2E/b", "/a%2ejs", "//a", "/a//b", "/a///", "/a%2fb",
        "/a%2Fb",
        "/a\\b", "/a%5cb", "/a;v=1", "/a/..;/b", "/a%3Bb", "/a%252e", "/a%25", "/a%", "/a%4", "/a%zz", "/a%00b",
        "/a%0a",
        "/a%7F", "/%c0%ae%c0%ae/", "/a%ff", "/%e0%80%af", "/a%3Fb", "/a%3f", "/a%23", "/a%23b",
    ])
    func whatHasNoName(_ path: String) {
        #expect(throws: PolicyQuestion.Refusal.self, "\(path)") { try question("https://h.test\(path)") }
    }

    @Test(arguments: [("/a%3Fb", "question mark (%3F)"), ("/a%23b", "number sign (%23)")])
    func whyItHasNone(_ path: String, _ reason: String) {
        #expect { try question("https://h.test\(path)") } throws: {
            ($0 as? PolicyQuestion.Refusal)?.reason.contains(reason) == true
        }
    }

    @Test func theQueryMayBeNoPartOfIt() throws {
        #expect(try question("https://h.test/a?b=c") { $0.includesQuery = false }.resource == "https://h.test/a")
    }

    // MARK: the call

    @Test func theWholeOfIt() throws {
        let asked = try question(
            "https://shop.example.test/pay?a=1", method: "POST", lines: [("User-Agent", "app/1"), ("Cookie", "own=1")],
            transaction: "t-1", address: "192.0.2.7"
        ) {
            $0.realm = "/alpha"
            $0.environment = [.init("channel", ["app", "web"])]
            $0.tellsAddress = true
        }
        #expect(asked.head.url == "https://am.example.test/am/json/realms/root/realms/alpha/policies?_action=evaluate")
        #expect(asked.head.methodText == "POST" && asked.method == "POST" && asked.showsTransaction)
        #expect(asked.head.fields["Cookie"] == "iPlanetDirectoryPro=S; amlbcookie=01")
        #expect(asked.head.fields["User-Agent"] == "app/1" && asked.head.fields["X-Requested-With"] != nil)
        let body = try JSONValue(parsing: asked.body)
        let wanted = try JSONValue(
            parsing: Array(
                #"{"resources":["https://shop.example.test/pay?a=1"],"application":"shop","subject":{"ssoToken":"S"},"environment":{"channel":["app","web"],"IP":["192.0.2.7"],"TxId":["t-1"]}}"#
                    .utf8))
        #expect(body == wanted, "\(String(decoding: asked.body, as: UTF8.self))")
        #expect(policy().isPolicyEvaluation(asked.head) && policy().evaluatedRealm(asked.head) == "/alpha")
        let found = SessionSource.find(in: asked.head, body: asked.body, policy: policy())
        #expect(found?.token == "S" && found?.carrier == .subject && found?.affinity == "01")
    }

    @Test func whoAsksNeedNotBeWhoIsMeant() throws {
        let asked = try question("https://h.test/a", caller: SessionSource(token: "AGENT", carrier: .cookie))
        #expect(asked.head.fields["Cookie"] == "iPlanetDirectoryPro=AGENT")
        #expect(SessionSource.find(in: asked.head, body: asked.body, policy: policy())?.token == "S")
    }

    /// Everything that a decision may depend on, and nothing that changes with each request.
    @Test func whatTellsQuestionsApart() throws {
        let plain = try question("https://h.test/a").bytes
        #expect(try question("https://h.test/a", caller: SessionSource(token: "A", carrier: .cookie)).bytes == plain)
        #expect(try question("https://h.test/a", transaction: "t").bytes == plain)
        var others: [[UInt8]] = try [
            question("https://h.test/b").bytes, question("https://h.test/a", method: "POST").bytes,
            question("https://h.test/a?x").bytes, question("http://h.test/a").bytes,
            question("https://h.test/a") { $0.application = "other" }.bytes,
            question("https://h.test/a") { $0.realm = "/alpha" }.bytes,
            question("https://h.test/a") { $0.environment = [.init("a", ["b"])] }.bytes,
        ]
        for address in ["192.0.2.7", "192.0.2.8"] {
            others.append(try question("https://h.test/a", address: address) { $0.tellsAddress = true }.bytes)
        }
        #expect(Set(others + [plain]).count == 10)
        var elsewhere = policy()
        elsewhere.server.url += "2"
        var enforcement = Enforcement()
        enforcement.application = "shop"
        let asked = try PolicyQuestion(
            about: request("GET", "https://h.test/a"), as: SessionSource(token: "S", carrier: .cookie), caller: nil,
            elsewhere, enforcement)
        #expect(asked.bytes != plain)
    }

    // MARK: the answer

    private func answer(_ body: String, status: Int = 200, to method: String = "GET") throws -> PolicyAnswer {
        try PolicyAnswer(
            ResponseHead(status: status, reason: ""), Array(body.utf8),
            to: question("https://h.test/a?b", method: method))
    }

    private func decision(
        actions: String = #"{"GET":true}"#, advices: String = "{}", ttl: String = "0",
        resource: String = "https://h.test/a?b"
    ) -> String {
        #"{"resource":"\#(resource)","actions":\#(actions),"attributes":{},"advices":\#(advices),"ttl":\#(ttl)}"#
    }

    @Test(arguments: [
        (#"{"GET":true}"#, true), (#"{"GET":true,"POST":false}"#, true), (#"{"GET":false}"#, false), ("{}", false),
        ("[]", false), (#"{"POST":true}"#, false), (#"{"get":true}"#, false), (#"{"GET":"true"}"#, false),
        (#"{"GET":1}"#, false), (#"{"GET":true,"GET":false}"#, false), (#"{"GET":false,"GET":true}"#, false),
    ])
    func whatIsAllowed(_ actions: String, _ allows: Bool) throws {
        #expect(try answer("[\(decision(actions: actions))]").allows == allows)
    }

    @Test(arguments: [
        "https://h.test/a?b", "https://H.TEST:443/a?b", "HTTPS://h.test/a?b",
    ])
    func theSameResource(_ name: String) throws { #expect(try answer("[\(decision(resource: name))]").allows) }

    @Test(arguments: [
        "https://h.test/a", "https://h.test/A?b", "https://h.test/a?b&c", "http://h.test/a?b",
        "https://h.test:8443/a?b",
        "https://g.test/a?b", "https://h.test/*", "", "*",
    ])
    func anotherResource(_ name: String) {
        #expect(throws: PolicyAnswer.Fault.self) { try answer("[\(decision(resource: name))]") }
    }

    @Test func whatIsNoAnswer() {
        let one = decision()
        let thousand = "[" + Array(repeating: one, count: 1000).joined(separator: ",") + "]"
        for body in [
            "", "{}", "[]", "null", "[\(one),\(one)]", thousand, "[\(one),{}]", "<html>", "[\(one)", "\"\(one)\"",
            #"[{"resource":"https://h.test/a?b","actions":{"GET":true}}]"#,
            "[" + String(repeating: " ", count: 300_000) + one + "]",
        ] {
            #expect(throws: PolicyAnswer.Fault.self, "\(body.prefix(60))") { try answer(body) }
        }
        for (status, kind) in [
            (400, PolicyAnswer.Fault.Kind.question), (401, .caller), (403, .privilege), (404, .unusable),
            (500, .unusable),
            (302, .unusable), (201, .unusable),
        ] {
            #expect(throws: PolicyAnswer.Fault.self) { try answer("[\(one)]", status: status) }
            do { _ = try answer("[\(one)]", status: status) } catch let fault as PolicyAnswer.Fault {
                #expect(fault.kind == kind)
            } catch { Issue.record(error) }
        }
    }

    @Test func wordsOfAMAreCutShort() {
        do { _ = try answer(#"{"message":"\#(String(repeating: "x", count: 5000))"}"#, status: 400) } catch {
            #expect("\(error)".count < 400)
        }
    }

    @Test(
        arguments: [
            ("9223372036854775807", Int.max), ("1700000000000", 1_700_000_000_000), ("0", nil), ("-1", nil),
            ("9223372036854775808", nil), ("1e300", nil), ("1.5", nil), ("\"5\"", nil), ("null", nil),
            ("-9223372036854775809", nil),
            (String(repeating: "9", count: 400), nil),
        ] as [(String, Int?)])
    func howLongItHolds(_ ttl: String, _ expires: Int?) throws {
        #expect(try answer("[\(decision(ttl: ttl))]").expires == expires)
    }

    @Test func anAdvice() throws {
        let advised = try answer("[\(decision(actions: "{}", advices: #"{"X":["y"]}"#, ttl: "1700000000000"))]")
        #expect(!advised.allows && advised.isAdvised && advised.expires == nil)
        // an action that is allowed is allowed, whatever others take
        let partly = try answer("[\(decision(advices: #"{"X":["y"]}"#, ttl: "1700000000000"))]")
        #expect(partly.allows && !partly.isAdvised && partly.expires == nil)
    }
}
