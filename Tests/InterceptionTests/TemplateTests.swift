import Declaration
import Formats
import HTTPCodec
import Testing

@testable import Interception

/// Values that are made for each exchange: where they come from, and what becomes of those that are not there.
struct TemplateTests {
    private static let post = """
        POST http://shop.example.com/a?q=one%20two&q=three&empty
        X-User: ann
        X-User: bob
        Content-Type: application/json
        """
    private static let body = #"{"user": {"id": 12.50, "name": "A\n\"é\"", "no": null}, "on": true, "list": [1, "b"]}"#

    private static func context() -> EditContext {
        var found = Classification.of(
            Action(rawValue: "TRANSFER"), tree: "Login", type: "service", realm: "/alpha")
        found.evidence = "by hand"
        return EditContext(found, time: 1_792_486_800, chance: Steps())
    }

    @Test(
        "What a place has",
        arguments: [
            ("${uuid}", "01000000-0000-4000-8200-000000000000"),
            ("${now}", "2026-10-20T09:00:00Z"),
            ("${action}", "TRANSFER"),
            ("${tree}", "Login"),
            ("${realm}", "/alpha"),
            ("${request.header.x-user}", "ann"),
            ("${request.query.q}", "one two"),
            ("${request.query.empty}", ""),
            ("${request.json./user/id}", "12.50"),
            ("${request.json./user/name}", "A \"é\""),
            ("${request.json./on}", "true"),
            ("${request.json./list}", "[1,\"b\"]"),
            ("a ${action}, b ${realm}.", "a TRANSFER, b /alpha."),
        ])
    func values(_ text: String, _ wanted: String) throws {
        let plan = Plan(rules: [rule("a", request: [try made(SetHeader.self, decoded(["X": decoded(text)]))])])
        var context = Self.context()
        let done = try plan.applied(try request(Self.post), body: Self.body, &context)
        #expect(done.head.fields["X"] == wanted)
        #expect(done.outcome.warnings.isEmpty && done.outcome.changes == ["a: set header X"])
        #expect(done.body == Self.body)
    }

    @Test("Every ${uuid} is another, and a version 4 UUID")
    func uuids() throws {
        let edit = try made(SetHeader.self, decoded(["X": decoded("${uuid} ${uuid}")]))
        var context = EditContext()
        let done = try Plan(rules: [rule(request: [edit])]).applied(try request(Self.post), &context)
        let found = (done.head.fields["X"] ?? "").split(separator: " ")
        #expect(found.count == 2 && found.first != found.last)
        for text in found {
            #expect(text.contains(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/))
        }
        var again = context
        _ = try Plan(rules: [rule(request: [edit])]).applied(try request(Self.post), &again)
        var steps = EditContext(chance: Steps())
        let first = try Plan(rules: [rule(request: [edit]), rule("b", request: [edit])]).applied(
            try request(Self.post), &steps)
        #expect(first.head.fields["X"]?.hasPrefix("05000000-0000-4000-8600-") == true, "chance goes on")
    }

    @Test("The response phase has the answer, and the request as it was sent")
    func response() throws {
        let edits: [any ResponseEdit] = [
            try made(
                SetHeader.self,
                decoded([
                    "A": decoded("${response.status}"), "B": decoded("${response.header.Server}"),
                    "C": decoded("${request.header.X-User}"), "D": decoded("${request.json./user/id}"),
                    "E": decoded("${response.json./a/0}"), "F": decoded("${request.json./on}"),
                ]), in: .response)
        ]
        let plan = Plan(rules: [rule("a", response: edits)])
        let asked = try request(Self.post)
        #expect(plan.readsRequestBodies && plan.readsResponseBodies)
        var context = Self.context()
        context.sentBody = .whole(Array(Self.body.utf8))
        let answer = try InterceptionTests.response("HTTP/1.1 201 Created\nServer: x/1\nContent-Type: application/json")
        let done = try plan.applied(answer, body: #"{"a": ["z"]}"#, to: asked, &context)
        #expect(
            ["A", "B", "C", "D", "E", "F"].map { done.head.fields[$0] } == ["201", "x/1", "ann", "12.50", "z", "true"])
        #expect(done.outcome.warnings.isEmpty)
        var without = EditContext()
        let lacking = try plan.applied(answer, body: "{}", to: asked, &without)
        #expect(
            lacking.outcome.warnings == [
                "a: did not write header D, for ${request.json./user/id} is not there",
                "a: did not write header E, for ${response.json./a/0} is not there",
                "a: did not write header F, for ${request.json./on} is not there",
            ])
    }

    @Test("Values see what edits before them left, as conditions do")
    func order() throws {
        let edits: [any RequestEdit] = [
            SetHeader([Pair("X-User", "zoe")]), SetQuery([Pair("q", "new")]),
            SetJSON([(try #require(JSONPointer("/on")), .string("off"))]),
            try made(
                SetHeader.self,
                decoded(["X": decoded("${request.header.X-User} ${request.query.q} ${request.json./on}")])),
        ]
        var context = EditContext()
        let done = try Plan(rules: [rule(request: edits)]).applied(try request(Self.post), body: Self.body, &context)
        #expect(done.head.fields["X"] == "zoe new off")
    }

    // MARK: what is not there

    @Test(
        "What is made of a value that is not there is not written, and warned of; the rest of the edit is made",
        arguments: [
            "${action}", "${tree}", "${realm}", "${request.header.Y}", "${request.query.y}", "${request.json./y}",
            "${request.json./user/no}", "${state.y}",
        ])
    func absent(_ text: String) throws {
        let edit = try made(
            SetHeader.self, decoded(["X-User": decoded("is \(text)"), "B": decoded("b"), "C": decoded("${now}")]))
        var context = EditContext()
        let done = try Plan(rules: [rule("a", request: [edit])]).applied(
            try request(Self.post), body: Self.body, &context)
        #expect(done.head.fields.values(named: "X-User") == ["ann", "bob"])
        #expect(done.head.fields["B"] == "b" && done.head.fields["C"] == "1970-01-01T00:00:00Z")
        #expect(done.outcome.warnings == ["a: did not write header X-User, for \(text) is not there"])
        #expect(done.outcome.changes == ["a: set header B, set header C"])
    }

    @Test("Why a value is not there is its own reason")
    func reasons() throws {
        let edits: [any RequestEdit] = [
            try made(
                SetHeader.self, decoded(["A": decoded("${request.json./a}"), "B": decoded("${request.header.Y}")]))
        ]
        var context = EditContext()
        let done = try Plan(rules: [rule("a", request: edits)]).applied(try request(Self.post), body: "{", &context)
        #expect(
            done.outcome.warnings == [
                "a: did not write header A, for the body with ${request.json./a} is not JSON",
                "a: did not write header B, for ${request.header.Y} is not there",
            ])
    }

    @Test("An edit of which nothing is left is not made")
    func nothingLeft() throws {
        let missing = decoded("${request.query.y}")
        let edits: [any RequestEdit] = [
            try made(SetHeader.self, decoded(["X-User": missing])), try made(AddHeader.self, decoded(["Z": missing])),
            try made(SetQuery.self, decoded(["q": missing])), try made(AddQuery.self, decoded(["z": missing])),
            try made(SetPath.self, decoded("/b/${request.query.y}")), try made(SetURL.self, missing),
            try made(SetHost.self, missing), try made(SetState.self, decoded(["a": missing])),
            try made(SetCookie.self, decoded(["name": decoded("c"), "value": missing])),
            try made(SetBody.self, decoded(["text": missing])),
            try made(SetJSON.self, decoded(["/on": decoded("\"${request.query.y}\"", asJSON: true)])),
            try made(SetForm.self, decoded(["on": missing])), try made(AddForm.self, decoded(["on": missing])),
        ]
        for edit in edits {
            for type in ["application/json", "application/x-www-form-urlencoded"] {
                let head = try request(Self.post.replacing("application/json", with: type))
                var context = EditContext()
                let done = try Plan(rules: [rule(request: [edit])]).applied(head, body: Self.body, &context)
                #expect(done.head.url == head.url && done.body == Self.body, "\(edit)")
                #expect(done.head.fields.lines.map(\.value) == head.fields.lines.map(\.value), "\(edit)")
                #expect(done.outcome.warnings.count <= 1 && context.state == nil, "\(edit)")
            }
        }
    }

    @Test("An answer is given in any case: what is missing leaves a gap in its body, and its headers out")
    func answers() throws {
        let edit = try made(
            Respond.self,
            decoded([
                "headers": decoded(["A": decoded("${request.query.y}"), "B": decoded("${request.query.q}")]),
                "text": decoded("<${request.query.y}>"),
            ]))
        var context = EditContext()
        let done = try Plan(rules: [rule("a", request: [edit])]).applied(try request(Self.post), &context)
        let answer = DirectResponse(
            status: 200, headers: [Pair("B", "one two"), Pair("Content-Type", "text/plain; charset=utf-8")],
            body: Array("<>".utf8))
        #expect(done.outcome.verdict == .respond(answer, interceptor: "a"))
        #expect(
            done.outcome.warnings == [
                "a: did not write header A, for ${request.query.y} is not there",
                "a: left a gap in the body, for ${request.query.y} is not there",
            ])
    }

    @Test("A body that cannot be read is dealt with as one that cannot be edited")
    func unreadable() throws {
        let edit = try made(SetHeader.self, decoded(["X": decoded("${request.json./a}")]))
        func run(_ policy: BodyPolicy, _ arrival: EditedBody.Arrival) throws -> Outcome {
            let plan = Plan(rules: [rule("a", request: [edit], bodies: policy)])
            var head = try request(Self.post)
            var context = EditContext(bodyLimit: 100)
            return plan.applyRequest(from: 0, to: &head, body: arrival, &context).outcome
        }
        let noJSON = EditedBody.Arrival.whole(Array("{".utf8))
        #expect(
            try run(BodyPolicy(), noJSON).warnings == [
                "a: did not write header X, for the body with ${request.json./a} is not JSON"
            ])
        #expect(
            try run(BodyPolicy(invalid: .refuse), noJSON).verdict
                == .abort(interceptor: "a", reason: "the body is not JSON"))
        #expect(
            try run(BodyPolicy(), .overLimit).warnings == [
                "a: did not write header X, for the body with ${request.json./a} is larger than the 100 bytes that are kept (limits.buffered_body)"
            ])
        #expect(try run(BodyPolicy(overLimit: .refuse), .overLimit).verdict != .proceed)
        #expect(try run(BodyPolicy(overLimit: .refuse), .whole([])).verdict == .proceed)
    }

    // MARK: what they cost

    @Test("A body is needed where a value is read from it, and only there")
    func needs() throws {
        func needs(_ edit: any RequestEdit, _ text: String = Self.post) throws -> Bool {
            let plan = Plan(rules: [rule(request: [edit])])
            var context = EditContext()
            return plan.needsRequestBody(from: 0, try request(text), &context)
        }
        #expect(try needs(made(SetHeader.self, decoded(["X": decoded("${request.json./a}")]))))
        #expect(try !needs(made(SetHeader.self, decoded(["X": decoded("${request.query.q}${uuid}")]))))
        #expect(
            try !needs(
                made(SetHeader.self, decoded(["X": decoded("${request.json./a}")])),
                "POST http://a.example/\nContent-Type: image/png"))
        #expect(try needs(made(SetState.self, decoded(["x": decoded("${request.json./a}")]))))
        let get = Condition.test(.method, [.exact("GET")])
        let read = try made(SetHeader.self, decoded(["X": decoded("${request.json./a}")]), in: .response)
        let plan = Plan(rules: [rule(when: get, response: [read])])
        var context = EditContext()
        #expect(plan.keepsRequestBody(try request("GET http://a.example/"), &context))
        #expect(!plan.keepsRequestBody(try request("GET http://a.example/\nContent-Type: image/png"), &context))
        #expect(!plan.keepsRequestBody(try request(Self.post), &context))
        let ended = Plan(rules: [
            rule("end", request: [Abort("no")]), rule("b", when: .test(.status, [.exact("200")]), response: [read]),
        ])
        #expect(ended.keepsRequestBody(try request(Self.post), &context), "the client's connection goes on behind it")
        let late = Plan(rules: [rule("b", when: .test(.status, [.exact("200")]), response: [read])])
        #expect(late.keepsRequestBody(try request(Self.post), &context), "nobody knows the status yet")
        #expect(!plan.readsResponseBodies)
        let plain = Plan(rules: [rule(request: [SetHeader([Pair("X", "${uuid}")])])])
        #expect(!plain.readsRequestBodies && !plain.readsResponseBodies)
    }

    @Test("Which phases a value is for, and what is no value at all")
    func faults() throws {
        #expect(findings("${response.status}").map(\.gravity) == [.error])
        #expect(findings("${response.status}${request.query.q}", in: .response).isEmpty)
        for (text, nearest) in [
            ("${uid}", "uuid"), ("${request.headr.X}", "request.header"), ("${reqest.query.a}", "request.query"),
            ("${stat.x}", "state"), ("${credentials.x}", "credential"), ("${envv.X}", "env"),
            ("${respnse.status}", "response.status"),
        ] {
            #expect(findings(text, in: .response).map(\.nearest) == [nearest], "\(text)")
        }
        for text in [
            "${request.header}", "${request.header.}", "${request.header.a b}", "${request.json.}", "${request.json.a}",
            "${request.query.}", "${state.}", "${state.a/b}", "${request.json./a~2}",
        ] {
            let found = findings(text)
            #expect(found.count == 1 && found.first?.message.contains("takes") == true, "\(text)")
        }
        #expect(findings("${uuid.x}").first?.message.hasPrefix("there is no such value") == true)
    }
}
