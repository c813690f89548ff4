import Declaration
import Formats
import HTTPCodec
import Testing

@testable import Interception

/// What interceptors keep of an exchange.
struct ExchangeStateTests {
    private static let get = "GET http://a.example/?in=1"

    private static func keep(_ name: String, _ text: String, in phase: EditPhase = .request) throws -> SetState {
        try made(SetState.self, decoded([name: decoded(text)]), in: phase)
    }

    private static func show(_ header: String, _ text: String, in phase: EditPhase = .request) throws -> SetHeader {
        try made(SetHeader.self, decoded([header: decoded(text)]), in: phase)
    }

    @Test(
        "T13: what the request phase sets, the response phase reads, through all attempts; another exchange sees none")
    func survives() throws {
        let first = Condition.not(.test(.header("X-Tried"), [.glob("*")]))
        let plan = Plan(rules: [
            rule(
                "a", when: first, request: [try Self.keep("id", "${request.query.in}")],
                response: [try Self.show("X-Id", "${state.id}", in: .response)])
        ])
        var context = EditContext()
        let asked = try request(Self.get)
        #expect(context.state == nil)
        for attempt in 1...4 {
            let sent = attempt == 1 ? try plan.applied(asked, &context).head : asked
            let done = try plan.applied(try response("HTTP/1.1 200 OK"), to: sent, &context)
            #expect(done.head.fields["X-Id"] == "1", "attempt \(attempt)")
        }
        var other = EditContext()
        let done = try plan.applied(try response("HTTP/1.1 200 OK"), to: asked, &other)
        #expect(done.head.fields["X-Id"] == nil && done.outcome.warnings.count == 1 && other.state == nil)
    }

    /// Exchanges that are under way together, in any order, over several attempts and with phases that are only tried.
    @Test("No exchange sees what another has kept")
    func apart() throws {
        let plan = Plan(rules: [
            rule(
                "a",
                request: [
                    try Self.keep("id", "${request.query.in}"), SetJSON([(try #require(JSONPointer("/a")), .null)]),
                ],
                response: [try Self.show("X-Id", "${state.id}", in: .response)])
        ])
        let count = 5
        var contexts = (0..<count).map { _ in EditContext() }
        var sent: [RequestHead?] = Array(repeating: nil, count: count)
        for attempt in 0..<3 {
            for index in attempt % 2 == 0 ? Array(0..<count) : (0..<count).reversed() {
                // every other one names nothing, and must not find what the one before it has kept
                let query = index % 2 == 0 ? "?in=\(index)" : ""
                let head = try request("POST http://a.example/\(query)\nContent-Type: application/json")
                sent[index] = try plan.applied(head, body: "{}", &contexts[index]).head
            }
            for index in (0..<count).reversed() {
                let asked = try #require(sent[index])
                let got = try plan.applied(try response("HTTP/1.1 200 OK"), to: asked, &contexts[index]).head
                #expect(got.fields["X-Id"] == (index % 2 == 0 ? String(index) : nil), "\(index) in \(attempt)")
            }
        }
    }

    @Test("T14: interceptors have names of their own, unless they share them")
    func scopes() throws {
        func seen(_ sharing: [Bool]) throws -> [String?] {
            let rules = try ["a", "b"].enumerated().map { index, name in
                Rule(
                    name: name,
                    request: [
                        try Self.show("\(name)-before", "${state.com.example.n}"), try Self.keep("com.example.n", name),
                    ],
                    response: [try Self.show(name, "${state.com.example.n}", in: .response)],
                    sharesState: sharing[index])
            }
            let plan = Plan(rules: rules)
            var context = EditContext()
            let sent = try plan.applied(try request(Self.get), &context).head
            let head = try plan.applied(try response("HTTP/1.1 200 OK"), to: sent, &context).head
            return [sent.fields["b-before"], head.fields["a"], head.fields["b"]]
        }
        #expect(try seen([false, false]) == [nil, "a", "b"])
        #expect(try seen([true, true]) == ["a", "b", "b"])
        #expect(try seen([true, false]) == [nil, "a", "b"])
    }

    @Test("T15: what becomes of the request makes no difference to what was kept")
    func replaced() throws {
        let plan = Plan(rules: [
            rule("b", request: [SetURL("http://other.example/"), SetMethod("PUT")]),
            rule(
                "a",
                request: [try Self.keep("x", "1"), SetURL("http://third.example/"), try Self.show("X", "${state.x}")]),
        ])
        var context = EditContext()
        #expect(try plan.applied(try request(Self.get), &context).head.fields["X"] == "1")
    }

    @Test("T16: what is set to null is not there any more")
    func removed() throws {
        let gone = try made(
            SetState.self,
            decoded(["x": Decoded(position: .start, written: "", content: .nothing), "y": decoded("2")]))
        #expect(gone.changes == [StateChange("x", nil), StateChange("y", "2")])
        let plan = Plan(rules: [
            rule(
                "a",
                request: [
                    try Self.keep("x", "1"), gone, try Self.show("X", "${state.x}"), try Self.show("Y", "${state.y}"),
                ])
        ])
        var context = EditContext()
        let done = try plan.applied(try request(Self.get), &context)
        #expect(done.head.fields["X"] == nil && done.head.fields["Y"] == "2")
        #expect(
            done.outcome.changes == ["a: kept state x, let go of state x, kept state y, set header Y"])
    }

    @Test("The response phase keeps what the answer says, for the next attempt")
    func fromResponse() throws {
        let plan = Plan(rules: [
            rule(
                "a", request: [try Self.show("X", "${state.token}")],
                response: [
                    try made(
                        SetState.self,
                        decoded(["token": decoded("${response.status} ${response.header.T} ${response.json./a}")]),
                        in: .response)
                ])
        ])
        var context = EditContext()
        let sent = try plan.applied(try request(Self.get), &context).head
        #expect(sent.fields["X"] == nil)
        _ = try plan.applied(try response("HTTP/1.1 401 No\nT: t"), body: #"{"a":"b"}"#, to: sent, &context)
        #expect(try plan.applied(try request(Self.get), &context).head.fields["X"] == "401 t b")
    }

    @Test("A phase that is only tried leaves nothing behind")
    func tried() throws {
        let post = "POST http://a.example/\nContent-Type: application/json"
        let plan = Plan(rules: [
            rule("a", request: [try Self.keep("x", "1")]),
            rule("b", request: [SetJSON([(try #require(JSONPointer("/a")), .null)])]),
        ])
        var context = EditContext()
        #expect(plan.needsRequestBody(from: 0, try request(post), &context))
        #expect(context.state == nil)
    }

    @Test("Values are counted, and so are their bytes")
    func bounds() throws {
        var state = ExchangeState()
        for number in 0..<ExchangeState.mostValues { try state.set("n\(number)", to: "", in: .own("a")) }
        #expect(throws: StateFault.tooMany) { try state.set("more", to: "", in: .own("a")) }
        #expect(throws: StateFault.tooMany) { try state.set("n0", to: "", in: .shared) }
        try state.set("n0", to: "other", in: .own("a"))
        try state.set("none", to: nil, in: .own("a"))
        try state.set("n0", to: nil, in: .own("a"))
        try state.set("more", to: "x", in: .own("a"))
        #expect(state["more", in: .own("a")] == "x" && state["n0", in: .own("a")] == nil)

        var full = ExchangeState()
        let most = String(repeating: "x", count: ExchangeState.mostBytes - 1)
        for _ in 0..<3 { try full.set("a", to: most, in: .shared) }
        #expect(throws: StateFault.tooLarge) { try full.set("a", to: most + "x", in: .shared) }
        #expect(throws: StateFault.tooLarge) { try full.set("b", to: "", in: .shared) }
        #expect(full["a", in: .shared] == most && full["b", in: .shared] == nil)
        try full.set("a", to: nil, in: .shared)
        try full.set("b", to: most, in: .shared)
    }

    @Test("An interceptor that would keep too much ends the exchange, and what it kept before stays")
    func tooMuch() throws {
        let plan = Plan(rules: [
            rule(
                "a",
                request: [
                    SetState([StateChange("x", "1")]),
                    SetState([StateChange("y", "2"), StateChange("z", String(repeating: "z", count: 40_000))]),
                ])
        ])
        var context = EditContext()
        let done = try plan.applied(try request(Self.get), &context)
        #expect(
            done.outcome.verdict
                == .abort(interceptor: "a", reason: "state z: an exchange keeps no more than 32 KiB"))
        #expect(context.state?["x", in: .own("a")] == "1" && context.state?["y", in: .own("a")] == nil)
    }

    @Test("What an interceptor reads and never sets is known")
    func unset() throws {
        let reads = try Self.show("X", "${state.tokn}")
        let keeps = try Self.keep("token", "${request.query.in}${state.token}")
        #expect(rule(request: [reads, keeps]).unsetState == ["tokn"])
        #expect(Rule(name: "a", request: [reads], sharesState: true).unsetState == [])
    }
}
