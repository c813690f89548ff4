import ContentCoding
import Formats
import HTTPCodec
import Testing

@testable import Interception

func json(_ pointer: String, _ matchers: TextMatcher...) throws -> Condition {
    .test(.json(try #require(JSONPointer(pointer))), matchers)
}

/// Conditions on what is in a request's body.
struct BodyConditionTests {
    static let typed = "POST http://a.example/pay\nContent-Type: application/json"

    /// Whether a rule with this condition applies to a request with this body, and what it warned of.
    static func run(
        _ condition: Condition, _ body: EditedBody.Arrival, _ text: String = typed, limit: Int = 1 << 16
    ) throws -> (holds: Bool, warnings: [RuleNote]) {
        let plan = Plan(rules: [rule(when: condition, request: [SetHeader([Pair("X", "1")])])])
        var head = try request(text)
        guard let first = plan.firstRequestMatch(head, nil) else { return (false, []) }
        var context = EditContext(bodyLimit: limit)
        guard plan.needsRequestBody(from: first, head, &context) else {
            let outcome = plan.applyRequest(from: first, to: &head, &context)
            return (head.fields["X"] != nil, outcome.warnings)
        }
        let done = plan.applyRequest(from: first, to: &head, body: body, &context)
        #expect(done.body == .asItCame)
        return (head.fields["X"] != nil, done.outcome.warnings)
    }

    static func holds(_ condition: Condition, _ body: String, _ text: String = typed) throws -> Bool {
        let (holds, warnings) = try run(condition, .whole(Array(body.utf8)), text)
        #expect(warnings.isEmpty)
        return holds
    }

    private static let document = #"""
        {"type": "payment", "amount": 200, "rate": 1.50, "big": 1e3, "ok": true, "no": false, "none": null,
         "text": "200", "list": [1, {"a/b": "x"}], "empty": "", "quoted": "\"q\"", "twice": 1, "twice": 2,
         "esc\u0061ped": "a\u00e9"}
        """#

    @Test(arguments: [
        ("/type", "payment"), ("/amount", "200"), ("/amount", "200.0"), ("/amount", "2e2"), ("/rate", "1.5"),
        ("/big", "1000"), ("/ok", "true"), ("/no", "false"), ("/none", "null"), ("/text", "200"), ("/list/0", "1"),
        ("/list/1/a~1b", "x"), ("/empty", ""), ("/quoted", #""q""#), ("/twice", "1"), ("/twice", "2"),
        ("/escaped", "a\u{E9}"), ("/list", #"[1,{"a/b":"x"}]"#), ("/list/1", #"{"a/b": "x"}"#),
    ])
    func exactValues(pointer: String, value: String) throws {
        #expect(try Self.holds(json(pointer, .exact(value)), Self.document))
        #expect(try Self.holds(json(pointer, .exact("other"), .exact(value)), Self.document))
        #expect(try Self.holds(json(pointer, .glob("*")), Self.document))
        #expect(try !Self.holds(.not(json(pointer, .exact(value))), Self.document))
    }

    @Test(arguments: [
        ("/type", "Payment"), ("/type", #""payment""#), ("/amount", "201"), ("/amount", "0200"), ("/text", "2e2"),
        ("/ok", "1"), ("/none", ""), ("/list", "1"), ("/missing", ""), ("/list/2", "1"), ("/Type", "payment"),
        ("/quoted", "q"),
    ])
    func otherValues(pointer: String, value: String) throws {
        #expect(try !Self.holds(json(pointer, .exact(value)), Self.document))
        #expect(try Self.holds(.not(json(pointer, .exact(value))), Self.document))
    }

    @Test func globsPatternsAndPresence() throws {
        #expect(try Self.holds(json("/type", .glob("pay*")), Self.document))
        #expect(try !Self.holds(json("/type", .glob("x*")), Self.document))
        #expect(try Self.holds(json("/amount", .glob("2*")), Self.document))
        #expect(try Self.holds(json("/type", .pattern(Pattern("^pay.ent$"))), Self.document))
        #expect(try Self.holds(json("/type", .exact("x"), .pattern(Pattern("ment"))), Self.document))
        #expect(try !Self.holds(json("/type", .pattern(Pattern("^ment"))), Self.document))
        #expect(try Self.holds(json("/ok", .pattern(Pattern("^tr"))), Self.document))
        #expect(try !Self.holds(json("/missing", .glob("*")), Self.document))
        #expect(try Self.holds(json("/list", .glob("*")), Self.document), "an array is there")
        #expect(try !Self.holds(json("/list", .glob("*1*")), Self.document), "and has no text")
        #expect(try !Self.holds(json("/list", .pattern(Pattern("1"))), Self.document))
        #expect(try Self.holds(json("", .glob("*")), "[]"))
    }

    private static let form = "POST http://a.example/token\nContent-Type: application/x-www-form-urlencoded"

    @Test(arguments: [
        ("grant_type", "refresh_token", true), ("grant_type", "refresh", false), ("a b", "c d", true),
        ("flag", "", true), ("e", "\u{E9}", true), ("many", "1", true), ("many", "2", true), ("1", "1.0", false),
        ("none", "*", false),
    ])
    func forms(name: String, value: String, isThere: Bool) throws {
        let body = "grant_type=refresh_token&a+b=c%20d&flag&e=%C3%A9&many=1&many=2&1=1"
        #expect(try Self.holds(.test(.form(name), [.exact(value)]), body, Self.form) == isThere)
        #expect(try Self.holds(.test(.form(name), [.glob("*")]), body, Self.form) == (name != "none"))
        #expect(try !Self.holds(.test(.form(name), [.glob("*")]), body, Self.typed), "the type says that it is no form")
    }

    @Test func partsOfAForm() throws {
        let head = "POST http://a.example/\nContent-Type: multipart/form-data; boundary=b"
        let body = "--b\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\nphoto\r\n--b--\r\n"
        #expect(try Self.holds(.test(.form("kind"), [.exact("photo")]), body, head))
        #expect(try !Self.holds(.test(.form("kind"), [.exact("text")]), body, head))
    }

    @Test func outOfItsCoding() throws {
        let head = Self.typed + "\nContent-Encoding: gzip"
        let body = try BodyEncoder.encode(Array(Self.document.utf8), [.gzip])
        #expect(try Self.run(json("/type", .exact("payment")), .whole(body), head).holds)
    }

    // MARK: what cannot be looked through

    private static let cannot: [(String, EditedBody.Arrival, String)] = [
        ("", .overLimit, "is larger than the 100 bytes that are kept (limits.buffered_body)"),
        ("", .noRoom, "found no room (limits.buffered)"),
        (
            "", .whole(Array(repeating: 0x20, count: 101)),
            "is larger than the 100 bytes that are kept (limits.buffered_body)"
        ),
        ("", .whole(Array(#"{"type": "payment""#.utf8)), "is not JSON"),
        ("\nContent-Encoding: compress", .whole(Array("x".utf8)), "is in the coding compress, which is not known here"),
        ("\nContent-Encoding: gzip", .whole(Array("in plain text".utf8)), "is no gzip"),
        ("\nContent-Range: bytes 0-1/2", .whole(Array("{}".utf8)), "is a part of a larger one"),
    ]

    @Test(arguments: cannot)
    func matchesNothingAndIsTold(_ field: String, _ body: EditedBody.Arrival, _ words: String) throws {
        let condition = try json("/type", .glob("*"))
        let told: [RuleNote] = ["rule: json /type finds nothing in the body, which \(words)"]
        let found = try Self.run(condition, body, Self.typed + field, limit: 100)
        #expect(!found.holds && found.warnings == told)
        let not = try Self.run(.not(condition), body, Self.typed + field, limit: 100)
        #expect(not.holds && not.warnings == told)
        let any = try Self.run(
            .any([condition, .test(.method, [.exact("PUT")])]), body, Self.typed + field, limit: 100)
        #expect(!any.holds && any.warnings == told)
    }

    @Test func aBodyOfAnotherTypeHasNothingAndNobodyIsTold() throws {
        for type in ["image/png", "multipart/form-data; boundary=x", "text/event-stream"] {
            let found = try Self.run(
                json("/a", .glob("*")), .overLimit, "POST http://a.example/\nContent-Type: \(type)")
            #expect(!found.holds && found.warnings.isEmpty)
        }
        #expect(try !Self.holds(json("/a", .glob("*")), "a=1", Self.form), "it says that it is something else")
        #expect(try Self.holds(json("/a", .glob("*")), #"{"a": 1}"#, Self.form), "as many a client says")
        #expect(try !Self.holds(json("/a", .glob("*")), "", Self.typed))
    }

    @Test func aRuleIsWarnedOfOnceInAnExchange() throws {
        let plan = Plan(rules: [
            rule(
                "a", when: .all([try json("/x", .glob("*")), try json("/y", .glob("*"))]), request: [SetMethod("PUT")]),
            rule("b", when: .not(try json("/x", .exact("1"))), request: [SetHeader([Pair("X", "1")])]),
        ])
        var context = EditContext()
        var all: [RuleNote] = []
        for _ in 0..<3 {
            var head = try request(Self.typed)
            #expect(plan.keepsRequestBody(head, &context))
            let done = plan.applyRequest(from: 0, to: &head, body: .overLimit, &context)
            #expect(head.fields["X"] == "1" && head.method == .post)
            all += done.outcome.warnings
        }
        #expect(all.map { $0.text.prefix(2) } == ["a:", "b:"])
    }

    /// A body that would change nothing is looked at for nothing, and nobody is to be told of it.
    @Test func whatTheHeadDecidesAsksNoBody() throws {
        let named = Condition.test(.header("Y"), [.exact("1")])
        let plan = Plan(rules: [
            rule("a", when: try json("/x", .glob("*")), request: [SetHeader([Pair("X", "1")])]),
            rule("b", when: .all([try json("/y", .glob("*")), named]), request: [SetHeader([Pair("X", "2")])]),
        ])
        for (value, told) in [("1", ["a:", "b:"]), ("2", ["a:"])] {
            var context = EditContext()
            var head = try request(Self.typed + "\nY: \(value)")
            let done = plan.applyRequest(from: 0, to: &head, body: .overLimit, &context)
            #expect(done.outcome.warnings.map { $0.text.prefix(2) } == told.map { $0[...] })
        }
    }

    @Test func patternsAreTriedOnSoMuchAndNoMore() throws {
        let condition = try json("/a", .pattern(Pattern("x$")), .exact("short"))
        func run(_ value: String) throws -> (holds: Bool, warnings: [RuleNote]) {
            try Self.run(condition, .whole(Array(#"{"a": "\#(value)"}"#.utf8)))
        }
        let most = BodyTest.patternBytes
        #expect(try run(String(repeating: "y", count: most - 1) + "x").holds)
        let long = try run(String(repeating: "y", count: most) + "x")
        #expect(!long.holds && long.warnings == ["rule: json /a has more than the 32 KiB that patterns are tried on"])
        let names = String(repeating: #""a": "y","#, count: BodyTest.patternValues)
        let many = try Self.run(condition, .whole(Array("{\(names)\"a\": \"x\"}".utf8)))
        #expect(!many.holds && many.warnings.count == 1)
        let exact = try Self.run(condition, .whole(Array("{\(names)\"a\": \"short\"}".utf8)))
        #expect(exact.holds && exact.warnings.isEmpty)
    }

    // MARK: which bodies are kept

    @Test func onlyWhereAHeadLeavesItOpen() throws {
        let payment = try json("/type", .exact("payment"))
        let post = Condition.test(.method, [.exact("POST")])
        let put = Condition.test(.method, [.exact("PUT")])
        let cases: [(Condition, Bool)] = [
            (payment, true), (.all([payment, post]), true), (.all([payment, put]), false),
            (.any([payment, post]), false), (.any([payment, put]), true), (.not(payment), true),
            (.not(.all([payment, put])), false), (.all([post, .any([put, .not(payment)])]), true),
            (.all([payment, .not(post)]), false), (.test(.form("a"), [.glob("*")]), false), (post, false),
        ]
        let head = try request(Self.typed)
        for (condition, isKept) in cases {
            let plan = Plan(rules: [rule(when: condition, request: [SetHeader([Pair("X", "1")])])])
            var context = EditContext()
            #expect(plan.keepsRequestBody(head, &context) == isKept, "\(condition)")
        }
    }

    @Test func forThePhasesThatFollow() throws {
        let payment = try json("/type", .exact("payment"))
        let status = Condition.test(.status, [.exact("200")])
        let error = Condition.test(.error, [.exact("tls")])
        let put = Condition.test(.method, [.exact("PUT")])
        let cases: [(Condition, Bool)] = [
            (payment, true), (.all([status, payment]), true), (.any([status, payment]), true),
            (.all([status, put, payment]), false), (.all([status, .any([.not(put), payment])]), false),
            (.all([error, payment]), true), (status, false),
        ]
        let head = try request(Self.typed)
        for (condition, isKept) in cases {
            let plan = Plan(rules: [rule(when: condition, response: [SetHeader([Pair("X", "1")])])])
            var context = EditContext()
            #expect(plan.keepsRequestBody(head, &context) == isKept, "\(condition)")
            #expect(!plan.needsRequestBody(from: 0, head, &context))
        }
    }

    @Test func behindAnAnswerMadeHereThatTheConnectionGoesOn() throws {
        let answer = DirectResponse(status: 200, headers: [], body: [])
        let plan = Plan(rules: [
            rule("a", request: [Respond(answer)]),
            rule("b", when: try json("/a", .glob("*")), response: [SetHeader([Pair("X", "1")])]),
        ])
        var context = EditContext()
        #expect(try plan.keepsRequestBody(request(Self.typed), &context))
        #expect(try !plan.keepsRequestBody(request(Self.typed + "\nExpect: 100-continue"), &context))
    }

    @Test func notForARuleThatLeavesTheExchange() throws {
        let plan = Plan(rules: [
            Rule(
                name: "a", request: [SetHeader([Pair("X", "1")])],
                response: [SetHeader([Pair("X", "1")])], sampling: Sampling(percent: 0)),
            Rule(
                name: "b", when: try json("/a", .glob("*")), request: [SetHeader([Pair("X", "1")])],
                sampling: Sampling(percent: 0)),
        ])
        var context = EditContext()
        let head = try request(Self.typed)
        #expect(plan.keepsRequestBody(head, &context), "whether it would take it is asked where it fits")
        var sent = head
        _ = plan.applyRequest(from: 0, to: &sent, body: .whole(Array(#"{"a": 1}"#.utf8)), &context)
        #expect(sent.fields["X"] == nil)
        #expect(!plan.keepsRequestBody(head, &context))
    }
}
