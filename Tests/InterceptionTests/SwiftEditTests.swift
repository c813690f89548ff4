import ContentCoding
import HTTPCodec
import Interceptors
import Testing

@testable import Interception

/// An interceptor made of functions.
struct Code: RequestInterceptor, ResponseInterceptor {
    var wantsBody = false
    var request: @Sendable (inout Request, Interceptors.Action) throws -> Void = { _, _ in }
    var response: @Sendable (inout Response, Request, Interceptors.Action) throws -> Void = { _, _, _ in }

    func intercept(request: Request, action: Interceptors.Action) throws -> Request {
        var changed = request
        try self.request(&changed, action)
        return changed
    }

    func intercept(response: Response, request: Request, action: Interceptors.Action) throws -> Response {
        var changed = response
        try self.response(&changed, request, action)
        return changed
    }

    static func request(
        wantsBody: Bool = false, _ change: @escaping @Sendable (inout Request) throws -> Void
    ) -> any RequestEdit {
        SwiftEdit("code", Code(wantsBody: wantsBody, request: { request, _ in try change(&request) }), in: .request)
            ?? SetMethod("NONE")
    }

    static func response(
        wantsBody: Bool = false, _ change: @escaping @Sendable (inout Response) throws -> Void
    ) -> any ResponseEdit {
        SwiftEdit(
            "code", Code(wantsBody: wantsBody, response: { response, _, _ in try change(&response) }), in: .response)
            ?? SetStatus(599)
    }
}

private struct Trouble: Error, CustomStringConvertible {
    let description = "no\r\nX-Evil: 1"
}

private struct Fault: Sendable {
    let words: String
    let change: @Sendable (inout Request) throws -> Void

    init(_ words: String, _ change: @escaping @Sendable (inout Request) throws -> Void) {
        self.words = words
        self.change = change
    }
}

private let invalid: [Fault] = [
    Fault("control character") { $0.headers["X"] = "a\r\nEvil: 1" },
    Fault("header name") { $0.headers.add("a b", "1") },
    Fault("one Host") { $0.headers["Host"] = nil },
    Fault("the host is not") { $0.headers["Host"] = "a b" },
    Fault("CONNECT") { $0.method = "CONNECT" },
    Fault("method") { $0.method = "G T" },
    Fault("URL would not be valid") { $0.url = "nowhere" },
    Fault("returned a body without wantsBody") { $0.body = [1] },
    Fault("no more than 32 KiB") { $0.state["x"] = String(repeating: "x", count: 100_000) },
    Fault("threw no  X-Evil: 1") { _ in throw Trouble() },
]

/// What comes back from code passes the checks that edits do, and nothing else is touched.
@Suite struct SwiftEditTests {
    private func plan(_ edits: any RequestEdit..., bodies: BodyPolicy = BodyPolicy()) -> Plan {
        Plan(rules: [rule(request: edits, bodies: bodies)])
    }

    private func lines(_ head: RequestHead) -> [String] { head.fields.lines.map { "\($0.name): \($0.value)" } }

    private let text = "GET http://a.test/p?x=%7E\nhost: a.test\nX-b: 1\nConnection: x\nAccept:  */*\nX-B: 2"

    private func apply(_ plan: Plan, _ text: String) throws -> (head: RequestHead, outcome: Outcome) {
        var head = try request(text)
        var context = EditContext()
        guard let first = plan.firstRequestMatch(head, nil) else { return (head, Outcome()) }
        let outcome = plan.applyRequest(from: first, to: &head, &context)
        return (head, outcome)
    }

    // MARK: heads

    @Test func whatIsNotTouchedStaysToTheByte() throws {
        let before = try request(text)
        let (head, outcome) = try apply(plan(Code.request { _ in }), text)
        #expect(head.fields.bytes == before.fields.bytes && head.targetText == before.targetText)
        #expect(outcome.changes == ["rule: swift code changed nothing"] && outcome.verdict == .proceed)
    }

    @Test func headersChangeInTheirPlaces() throws {
        let edit = Code.request {
            $0.headers["x-b"] = "3"
            $0.headers.fields.insert(.init("X-First", "0"), at: 0)
            $0.headers.add("X-Last", "9")
        }
        let (head, outcome) = try apply(plan(edit), text)
        #expect(
            lines(head) == [
                "X-First: 0", "host: a.test", "X-b: 3", "Connection: x", "Accept: */*", "X-Last: 9",
            ])
        let words = try #require(outcome.changes.first?.words)
        for part in ["swift code", "set header X-b", "added header X-First", "removed header X-B", "header X-Last"] {
            #expect(words.contains(part), "\(words)")
        }
    }

    @Test func anyListOfLinesReplacesAnyOther() throws {
        var random = SeededRandom(state: 7)
        let names = ["A", "B", "c", "Connection", "D"]
        func list(_ most: Int) -> [Headers.Field] {
            (0..<Int.random(in: 0...most, using: &random)).map { _ in
                Headers.Field(names.randomElement(using: &random) ?? "A", "\(Int.random(in: 0...2, using: &random))")
            }
        }
        func writable(_ lines: some Sequence<String>) -> [String] { lines.filter { !$0.hasPrefix("Connection") } }
        for _ in 0..<500 {
            let (old, new) = (list(7), list(7))
            var fields = FieldTable()
            for line in old { fields.add(line.name, line.value) }
            _ = try HeaderChange.apply(Headers(new), insteadOf: Headers(old), to: &fields)
            let found = fields.lines.map { "\($0.name): \($0.value)" }
            #expect(writable(found) == writable(new.map { "\($0.name): \($0.value)" }), "\(old) \(new)")
        }
    }

    @Test func manyLinesAreReplacedSoon() throws {
        let old = (0..<512).map { Headers.Field("A\($0)", "\($0)") }
        var fields = FieldTable()
        for line in old { fields.add(line.name, line.value) }
        let time = try ContinuousClock().measure {
            _ = try HeaderChange.apply(
                Headers(old.map { .init("B\($0.name)", $0.value) }), insteadOf: Headers(old), to: &fields)
        }
        // generous: a debug build, beside other tests
        #expect(time < .seconds(5) && fields.count == 512)
    }

    @Test(
        "T51: what frames a message is the proxy's", arguments: ["Content-Length", "Transfer-Encoding", "Connection"])
    func framing(_ name: String) throws {
        for value in ["3", nil] {
            let (head, outcome) = try apply(plan(Code.request { $0.headers[name] = value }), text)
            #expect(lines(head) == lines(try request(text)) && outcome.verdict == .proceed)
            let isTold = outcome.changes.first?.words.contains("ignored header \(name)") == true
            #expect(isTold || value == nil && name != "Connection", "\(outcome.changes)")
        }
    }

    @Test func theURLAndTheMethod() throws {
        let (head, outcome) = try apply(
            plan(
                Code.request {
                    $0.method = "PUT"
                    $0.query["x"] = "1"
                    $0.url = $0.url.replacing("a.test", with: "b.test:81")
                }), text)
        #expect(head.methodText == "PUT" && head.url == "http://b.test:81/p?x=1" && head.fields["Host"] == "b.test:81")
        #expect(
            outcome.changes.first?.words.contains("set URL to http://b.test:81/p") == true, "a query may hold secrets")
    }

    @Test("What would be no valid message ends the exchange, with words", arguments: invalid.indices)
    func faults(_ index: Int) throws {
        let (change, words) = (invalid[index].change, invalid[index].words)
        let (_, outcome) = try apply(plan(Code.request(change), SetHeader([.init("X-Next", "1")])), text)
        guard case .abort("rule", let reason) = outcome.verdict else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason.hasPrefix("swift code: ") && reason.contains(words), "\(reason)")
    }

    @Test func responses() throws {
        let plan = Plan(rules: [
            rule(response: [
                Code.response {
                    $0.status = 404
                    $0.headers["Server"] = nil
                    $0.headers["X"] = "1"
                }
            ])
        ])
        let (head, made) = try plan.response("HTTP/1.1 200 OK\nServer: s\nContent-Length: 2", Array("ok".utf8))
        #expect(head.status == 404 && head.fields.lines.map(\.name) == ["Content-Length", "X"])
        #expect(made.body == .asItCame)
        let wrong = Plan(rules: [rule(response: [Code.response { $0.status = 99 }])])
        #expect(try wrong.response("HTTP/1.1 200 OK", []).outcome.outcome.verdict.isAbort)
    }

    // MARK: bodies

    @Test func bodiesComeOutOfTheirCodingsAndGoBack() throws {
        let gzip = BodyEncoder.encoded("{\"a\":1}")
        let edit = Code.request(wantsBody: true) { $0.text = $0.text?.replacing("1", with: "22") }
        let made = try plan(edit).request("POST http://a.test/\nContent-Encoding: gzip\nContent-Length: 9", gzip)
        #expect(made.isReplaced && made.head.fields["Content-Encoding"] == "gzip")
        #expect(try BodyDecoder.decode(made.body, [.gzip], CodingLimits(size: 100)) == Array("{\"a\":22}".utf8))
        #expect(made.head.fields["Content-Length"] == nil, "framing is made anew")
        let same = try plan(Code.request(wantsBody: true) { _ in }).request("POST http://a.test/", "x")
        #expect(!same.isReplaced && same.text == "x")
    }

    @Test func aBodyThatCannotBeHad() throws {
        let edit = Code.request(wantsBody: true) { _ in throw Trouble() }
        let head = "POST http://a.test/\nContent-Encoding: nonsense"
        let passed = try plan(edit).request(head, "x")
        #expect(
            passed.outcome.verdict == .proceed && passed.outcome.warnings.first?.words.contains("was not asked") == true
        )
        let refused = try plan(edit, bodies: BodyPolicy(invalid: .refuse)).request(head, "x")
        #expect(refused.outcome.verdict.isAbort)
    }

    @Test func whoeverStandsBehindItMayNeedTheBody() throws {
        let json = rule("json", when: .test(.header("X"), [.exact("1")]), request: [amount()])
        let code = rule(request: [Code.request { $0.headers["X"] = "1" }])
        let head = try request("POST http://a.test/\nContent-Type: application/json\nContent-Length: 2")
        var context = EditContext()
        #expect(Plan(rules: [code, json]).keepsRequestBody(head, &context), "code may have it apply")
        #expect(
            !Plan(rules: [code]).keepsRequestBody(head, &context)
                && !Plan(rules: [json]).keepsRequestBody(head, &context))
        #expect(Plan(rules: [rule(request: [Code.request(wantsBody: true) { _ in }])]).keepsRequestBody(head, &context))
    }

    // MARK: state and verdicts

    @Test("T13, T14, T16: state is the interceptor's own, and nil lets go of it")
    func state() throws {
        let count = Code.request { $0.state["n"] = String((Int($0.state["n"] ?? "0") ?? 0) + 1) }
        let plan = Plan(rules: [rule("one", request: [count, count]), rule("two", request: [count])])
        var head = try request(text)
        var context = EditContext()
        _ = plan.applyRequest(from: 0, to: &head, &context)
        #expect(context.state?["n", in: .own("one")] == "2" && context.state?["n", in: .own("two")] == "1")
        let drop = Plan(rules: [rule("one", request: [Code.request { $0.state["n"] = nil }])])
        _ = drop.applyRequest(from: 0, to: &head, &context)
        #expect(context.state?["n", in: .own("one")] == nil && context.state?["n", in: .own("two")] == "1")
    }

    @Test func verdicts() throws {
        let respond = Code.request { _ in
            throw Interceptors.Verdict.respond(
                Response(status: 418, headers: ["X": "1", "Connection": "close"], body: [1]))
        }
        guard case .respond(let answer, "rule") = try apply(plan(respond), text).outcome.verdict else {
            Issue.record("no answer")
            return
        }
        #expect(answer == DirectResponse(status: 418, headers: [.init("X", "1")], body: [1]))
        let abort = try apply(plan(Code.request { _ in throw Interceptors.Verdict.abort("why") }), text)
        #expect(abort.outcome.verdict == .abort(interceptor: "rule", reason: "swift code: why"))
        let early = try apply(plan(Code.request { _ in throw Interceptors.Verdict.retry() }), text)
        #expect(early.outcome.verdict.isAbort, "a request that has not gone out is not repeated")
        let again = Plan(rules: [
            rule(response: [Code.response { _ in throw Interceptors.Verdict.retry(after: .seconds(2)) }])
        ])
        let wish = try #require(try again.response("HTTP/1.1 200 OK", []).outcome.outcome.retries.first)
        #expect(wish.policy.backoff.first == 2_000 && wish.policy.repeatsAny && wish.basis == nil)
    }

    @Test func theActionIsTold() throws {
        let code = Code(request: { request, action in
            let payload = "\(action.payload?.tree ?? "-") \(action.payload?.type ?? "-")"
            request.headers["X-Action"] = "\(action.type) \(payload) \(action.realm ?? "-")"
        })
        let edit = try #require(SwiftEdit("code", code, in: .request))
        let plan = Plan(rules: [rule(request: [edit])])
        for (found, words) in [
            (
                Classification(
                    action: .startAuthenticate, payload: ActionPayload(tree: "Login", type: "service"), realm: "/alpha",
                    evidence: ""), "START_AUTHENTICATE Login service /alpha"
            ), (nil, " - - -"),
        ] as [(Classification?, String)] {
            var head = try request(text)
            var context = EditContext(found)
            _ = plan.applyRequest(from: 0, to: &head, &context)
            #expect(head.fields["X-Action"] == words)
        }
    }
}

extension Interception.Verdict {
    fileprivate var isAbort: Bool { if case .abort = self { true } else { false } }
}

extension BodyEncoder {
    fileprivate static func encoded(_ text: String) -> [UInt8] {
        (try? encode(Array(text.utf8), [.gzip])) ?? []
    }
}
