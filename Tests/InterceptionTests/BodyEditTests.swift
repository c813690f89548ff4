import ContentCoding
import Formats
import HTTPCodec
import Testing

@testable import Interception

/// A message with its body through a plan, as its user runs it.
extension Plan {
    struct Edited {
        var head: RequestHead
        var outcome: Outcome
        /// What goes on.
        var body: [UInt8]
        var isReplaced: Bool

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    func request(_ text: String, _ body: [UInt8], limit: Int = 1 << 16) throws -> Edited {
        var head = try InterceptionTests.request(text)
        guard let first = firstRequestMatch(head, nil) else {
            return Edited(head: head, outcome: Outcome(), body: body, isReplaced: false)
        }
        var context = EditContext(bodyLimit: limit)
        let done = applyRequest(from: first, to: &head, body: .whole(body), &context)
        guard case .replaced(let new) = done.body else {
            return Edited(head: head, outcome: done.outcome, body: body, isReplaced: false)
        }
        return Edited(head: head, outcome: done.outcome, body: new, isReplaced: true)
    }

    func request(_ text: String, _ body: String) throws -> Edited { try request(text, Array(body.utf8)) }

    func response(
        _ text: String, _ body: [UInt8], to method: String = "GET", limit: Int = 1 << 16
    ) throws -> (head: ResponseHead, outcome: BodyOutcome) {
        var head = try InterceptionTests.response(text)
        let asked = try InterceptionTests.request("\(method) http://a.example/")
        guard let first = firstResponseMatch(head, request: asked, nil) else {
            return (head, BodyOutcome(outcome: Outcome(), body: .asItCame))
        }
        var context = EditContext(bodyLimit: limit)
        let done = applyResponse(from: first, to: &head, body: .whole(body), request: asked, &context)
        return (head, done)
    }
}

func rule(
    _ name: String = "rule", when: Condition = .always, request: [any RequestEdit] = [],
    response: [any ResponseEdit] = [], bodies: BodyPolicy = BodyPolicy()
) -> Rule {
    Rule(name: name, when: when, request: request, response: response, bodies: bodies)
}

func amount(_ value: JSONValue = .string("200")) -> SetJSON {
    SetJSON([JSONPointer("/amount").map { ($0, value) }].compactMap { $0 })
}

/// Bodies that edits are made to: which are looked at, in what coding they go on, and what their heads say then.
struct BodyEditTests {
    private static let json = "POST http://a.example/pay\nContent-Type: application/json"

    @Test("A body is changed where it stands, and its length with it")
    func request() throws {
        let plan = Plan(rules: [rule("amount", request: [amount()])])
        let edited = try plan.request(
            Self.json + "\nContent-Length: 24\nContent-MD5: abc\nDigest: sha-256=x\nX: y", #"{"amount": 1, "to":"b"}"#)
        #expect(edited.isReplaced && edited.text == #"{"amount": "200", "to":"b"}"#)
        #expect(edited.outcome.changes == ["amount: set JSON /amount"])
        #expect(edited.outcome.warnings.isEmpty)
        #expect(!edited.head.announcesLength, "the length is that of the new body")
        #expect(edited.head.fields["Digest"] == nil && edited.head.fields["Content-MD5"] == nil)
        #expect(edited.head.fields["X"] == "y" && edited.head.fields["Content-Type"] == "application/json")
    }

    @Test("Edits are made in order, each on what the one before it left, across interceptors")
    func order() throws {
        let plan = Plan(rules: [
            rule("first", request: [SetBody(Array("a=1".utf8), contentType: "application/x-www-form-urlencoded")]),
            rule(
                "second", when: .test(.header("Content-Type"), [.glob("application/x-*")]),
                request: [SetForm([Pair("b", "x y")]), SetHeader([Pair("X", "1")]), RemoveForm(["a"])]),
        ])
        let edited = try plan.request("POST http://a.example/\nContent-Type: text/plain", "old")
        #expect(edited.text == "b=x%20y")
        #expect(edited.head.fields["X"] == "1")
        #expect(edited.head.fields.values(named: "Content-Type") == ["application/x-www-form-urlencoded"])
    }

    @Test(
        "A coded body is edited and goes on in its coding",
        arguments: [
            "gzip", "x-gzip", "deflate", "br", "zstd", "gzip, br",
        ])
    func coded(_ codings: String) throws {
        let list = try codings.split(separator: ", ").map { try #require(Coding(named: $0)) }
        let body = try BodyEncoder.encode(Array(#"{"amount":1}"#.utf8), list)
        let plan = Plan(rules: [rule(request: [amount()])])
        let edited = try plan.request(Self.json + "\nContent-Encoding: \(codings)", body)
        #expect(edited.isReplaced)
        #expect(edited.head.fields["Content-Encoding"] == codings)
        let plain = try BodyDecoder.decode(edited.body, list, CodingLimits(size: 1000))
        #expect(String(decoding: plain, as: UTF8.self) == #"{"amount":"200"}"#)
    }

    @Test("Where an edit changes nothing, what came goes on as it came")
    func unchanged() throws {
        let body = try BodyEncoder.encode(Array(#"{"amount":"200"}"#.utf8), [.gzip])
        let fields = "\nContent-Encoding: gzip\nContent-Length: \(body.count)\nDigest: sha-256=x"
        for edits: [any RequestEdit] in [[amount()], [RemoveJSON([JSONPointer("/none")].compactMap { $0 })]] {
            let edited = try Plan(rules: [rule(request: edits)]).request(Self.json + fields, body)
            #expect(!edited.isReplaced && edited.body == body)
            #expect(edited.head.announcesLength && edited.head.fields["Digest"] != nil)
        }
    }

    @Test("A coding that rules take away or change is the one that the body goes on in")
    func recoded() throws {
        let body = try BodyEncoder.encode(Array(#"{"amount":1}"#.utf8), [.gzip])
        func edited(_ edits: [any RequestEdit]) throws -> Plan.Edited {
            try Plan(rules: [rule(request: edits)]).request(Self.json + "\nContent-Encoding: gzip", body)
        }
        let plain = try edited([RemoveHeader(["Content-Encoding"]), amount()])
        #expect(plain.text == #"{"amount":"200"}"# && plain.head.fields["Content-Encoding"] == nil)
        let other = try edited([amount(), SetHeader([Pair("Content-Encoding", "zstd")])])
        #expect(other.body.starts(with: [0x28, 0xB5, 0x2F, 0xFD]))
        let unknown = try edited([amount(), SetHeader([Pair("Content-Encoding", "compress")])])
        #expect(unknown.text == #"{"amount":"200"}"# && unknown.head.fields["Content-Encoding"] == nil)
    }

    @Test(
        "What cannot be edited passes with a warning, or is refused, as is configured",
        arguments: [
            ("Content-Type: application/json", "no json", "is not JSON from byte 1 on"),
            ("Content-Encoding: gzip", #"{"amount":1}"#, "is no gzip"),
            ("Content-Encoding: compress", #"{"amount":1}"#, "is in the coding compress, which is not known here"),
            ("Content-Range: bytes 0-5/10", #"{"amount":1}"#, "is a part of a larger one"),
            (
                "X: y", #"{"amount":"# + String(repeating: "1", count: 70000) + "}",
                "is larger than the 65536 bytes that are kept (limits.buffered_body)"
            ),
            ("X: y", #"{"a":""# + String(repeating: "1", count: 65500) + "\"}", "would be larger than 65536 bytes"),
            ("X: y", "[1]", "has an array of 1 there; an item is named by its number, or - for a new one"),
        ])
    func unusable(_ field: String, _ body: String, _ words: String) throws {
        let edits: [any RequestEdit] = [
            amount(.string(String(repeating: "2", count: 40))), SetHeader([Pair("Z", "1")]),
        ]
        let head = "POST http://a.example/\n\(field)"
        let passed = try Plan(rules: [rule("a", request: edits)]).request(head, body)
        #expect(!passed.isReplaced && passed.text == body && passed.outcome.verdict == .proceed)
        #expect(passed.outcome.warnings == ["a: set_json left the body as it is, which \(words)"])
        #expect(passed.outcome.changes == ["a: set header Z"])
        #expect(passed.head.fields["Z"] == "1")
        let both = BodyPolicy(overLimit: .refuse, invalid: .refuse)
        let refused = try Plan(rules: [rule("a", request: edits, bodies: both)]).request(head, body)
        #expect(refused.outcome.verdict == .abort(interceptor: "a", reason: "set_json: the body \(words)"))
        #expect(refused.head.fields["Z"] == nil)
        let isLimit = words.contains("kept")
        let other = BodyPolicy(overLimit: isLimit ? .pass : .refuse, invalid: isLimit ? .refuse : .pass)
        let third = try Plan(rules: [rule("a", request: edits, bodies: other)]).request(head, body)
        #expect(third.outcome.verdict == .proceed)
    }

    @Test("A body of which more came than is kept is left, and other edits are made")
    func overLimit() throws {
        let plan = Plan(rules: [rule("a", request: [amount(), SetBody([0x61]), SetHeader([Pair("Z", "1")])])])
        var head = try InterceptionTests.request(Self.json)
        let first = try #require(plan.firstRequestMatch(head, nil))
        var context = EditContext(bodyLimit: 100)
        let done = plan.applyRequest(from: first, to: &head, body: .overLimit, &context)
        #expect(done.body == .asItCame && done.outcome.warnings.count == 2 && head.fields["Z"] == "1")
    }

    @Test("A bomb is left as it is")
    func bomb() throws {
        let bomb = try BodyEncoder.encode([UInt8](repeating: 0x20, count: 8 << 20), [.gzip])
        let plan = Plan(rules: [rule("a", request: [amount()])])
        let edited = try plan.request(Self.json + "\nContent-Encoding: gzip", bomb)
        #expect(!edited.isReplaced)
        #expect(edited.outcome.warnings.first?.words.contains("bytes when it is unpacked") == true)
    }

    @Test("A message without a body is not warned of, and set_body gives it one")
    func empty() throws {
        let plan = Plan(rules: [rule("a", request: [amount(), SetForm([Pair("a", "b")])])])
        let edited = try plan.request("GET http://a.example/", "")
        #expect(!edited.isReplaced && edited.outcome.warnings.isEmpty)
        #expect(edited.outcome.changes == ["a: found no body for set_json, found no body for set_form"])
        let made = try Plan(rules: [rule(request: [SetBody(Array("x".utf8))])]).request("PUT http://a.example/", "")
        #expect(made.isReplaced && made.text == "x")
        #expect(made.head.fields["Content-Type"] == "application/octet-stream")
        let kept = try Plan(rules: [rule(request: [SetBody(Array("x".utf8))])]).request(
            "PUT http://a.example/\nContent-Type: text/css\nContent-Encoding: compress", "y")
        #expect(kept.text == "x" && kept.head.fields["Content-Type"] == "text/css")
        #expect(kept.head.fields["Content-Encoding"] == nil, "nobody here can put it into that coding")
    }

    @Test("Without its body a request gets the other edits, and it is said")
    func headAlone() throws {
        let plan = Plan(rules: [rule("a", request: [amount(), SetHeader([Pair("Z", "1")])])])
        let (head, outcome) = plan.request(try InterceptionTests.request(Self.json))
        #expect(head.fields["Z"] == "1" && outcome.changes == ["a: found no body for set_json, set header Z"])
    }

    // MARK: which messages need their bodies

    @Test("A body is needed where a rule that applies changes it, after what rules before it did")
    func needed() throws {
        func needs(_ rules: [Rule], _ text: String) throws -> Bool {
            let (plan, head) = (Plan(rules: rules), try InterceptionTests.request(text))
            guard let first = plan.firstRequestMatch(head, nil) else { return false }
            var context = EditContext()
            return plan.needsRequestBody(from: first, head, &context)
        }
        let post = Condition.test(.method, [.exact("POST")])
        let edit = rule(when: post, request: [amount()])
        let header = rule("header", request: [SetHeader([Pair("Z", "1")])])
        #expect(try needs([header, edit], "POST http://a.example/"))
        #expect(try !needs([header, edit], "GET http://a.example/"))
        #expect(try !needs([header], "POST http://a.example/"))
        #expect(try needs([rule("method", request: [SetMethod("POST")]), edit], "GET http://a.example/"))
        #expect(try !needs([rule("method", request: [SetMethod("PUT")]), edit], "POST http://a.example/"))
        #expect(try !needs([rule("stop", request: [Abort("no")]), edit], "POST http://a.example/"))
        #expect(try !needs([edit], "POST http://a.example/\nContent-Type: image/png"))
        let form = rule("form", request: [SetForm([Pair("a", "b")])])
        #expect(try !needs([form], "POST http://a.example/"))
        #expect(try !needs([form], "POST http://a.example/\nContent-Type: application/json"))
        #expect(try needs([form], "POST http://a.example/\nContent-Type: application/x-www-form-urlencoded"))
        #expect(try needs([form], "POST http://a.example/\nContent-Type: multipart/form-data; boundary=x"))
        let replies = Plan(rules: [rule(when: .test(.status, [.exact("200")]), response: [amount()]), header])
        let (asked, answer) = (
            try InterceptionTests.request("GET http://a.example/"), try InterceptionTests.response("HTTP/1.1 200 OK")
        )
        let first = try #require(replies.firstResponseMatch(answer, request: asked, nil))
        var context = EditContext()
        #expect(replies.needsResponseBody(from: first, answer, request: asked, &context))
        #expect(!replies.needsRequestBody(from: 1, asked, &context))
    }

    // MARK: responses

    @Test("A response's status, fields and body are changed together")
    func response() throws {
        let plan = Plan(rules: [
            rule(response: [
                SetStatus(201), RemoveJSON([JSONPointer("/address")].compactMap { $0 }), SetHeader([Pair("Z", "1")]),
            ])
        ])
        let body = try BodyEncoder.encode(Array(#"{"name":"x","address":{}}"#.utf8), [.gzip])
        let (head, done) = try plan.response(
            "HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: \(body.count)\nTrailer: X\nETag: \"1\"", body)
        guard case .replaced(let new) = done.body else {
            Issue.record("the body is as it came")
            return
        }
        let plain = try BodyDecoder.decode(new, [.gzip], CodingLimits(size: 1000))
        #expect(String(decoding: plain, as: UTF8.self) == #"{"name":"x"}"#)
        #expect(head.status == 201 && head.fields["Z"] == "1" && head.fields["ETag"] == "\"1\"")
        #expect(head.fields["Content-Length"] == nil && head.fields["Trailer"] == nil)
    }

    @Test(
        "What has no body keeps having none, and claims no length that it would not have",
        arguments: [
            ("HEAD", 200), ("GET", 304), ("GET", 204),
        ])
    func bodiless(_ method: String, _ status: Int) throws {
        let answer = "HTTP/1.1 \(status) X\nContent-Length: 12\nContent-Type: application/json"
        for edit: any ResponseEdit in [amount(), SetBody([0x61])] {
            let plan = Plan(rules: [rule(response: [edit, SetHeader([Pair("Z", "1")])])])
            let (head, done) = try plan.response(answer, [], to: method)
            #expect(done.body == .none && head.fields["Z"] == "1" && head.fields["Content-Length"] == nil)
            #expect(done.outcome.warnings.isEmpty)
        }
        let (head, done) = try Plan(rules: [rule(response: [SetHeader([Pair("Z", "1")])])]).response(
            answer, [], to: method)
        #expect(done.body == .none && head.fields["Content-Length"] == "12")
    }

    @Test("A status that has no body takes it away, and one that has gives room for it")
    func status() throws {
        let none = Plan(rules: [rule(response: [SetStatus(204)])])
        let (head, done) = try none.response("HTTP/1.1 200 OK\nContent-Length: 3", Array("abc".utf8))
        #expect(done.body == .none && head.fields["Content-Length"] == nil)
        let some = Plan(rules: [
            rule(response: [SetStatus(200), SetBody(Array("abc".utf8), contentType: "text/plain")])
        ])
        let (other, made) = try some.response("HTTP/1.1 204 No Content", [])
        #expect(made.body == .replaced(Array("abc".utf8)) && other.fields["Content-Type"] == "text/plain")
    }

    @Test("What is written to the wire has one length, the right one")
    func written() throws {
        let plan = Plan(rules: [rule(request: [amount()], response: [amount()])])
        let edited = try plan.request(Self.json + "\nTransfer-Encoding: chunked", #"{"amount":1}"#)
        var wire: [UInt8] = []
        edited.head.write(to: &wire, Forwarding(framing: .length(UInt64(edited.body.count))))
        let text = String(decoding: wire, as: UTF8.self)
        #expect(text.hasSuffix("\r\nContent-Length: 16\r\n\r\n") && !text.contains("chunked"))
        let (head, done) = try plan.response("HTTP/1.1 200 OK\nContent-Length: 12", [], to: "HEAD")
        #expect(done.body == .none)
        var answer = Forwarding(framing: .none)
        answer.keepsLength = true
        wire = []
        head.write(to: &wire, answer)
        #expect(String(decoding: wire, as: UTF8.self) == "HTTP/1.1 200 OK\r\n\r\n")
    }

    @Test("A content type that would begin another line is not written")
    func smuggled() throws {
        let plan = Plan(rules: [rule("a", request: [SetBody([0x61], contentType: "a/b\r\nX: y")])])
        let edited = try plan.request(Self.json, "{}")
        guard case .abort = edited.outcome.verdict else {
            Issue.record("it is written")
            return
        }
        #expect(edited.head.fields["Content-Type"] == "application/json")
    }

    @Test("A part of a body is not edited as if it were all of it")
    func part() throws {
        let plan = Plan(rules: [rule("a", response: [amount()])])
        let (_, done) = try plan.response("HTTP/1.1 206 Partial Content", Array(#"{"amount":1}"#.utf8))
        #expect(done.body == .asItCame)
        #expect(done.outcome.warnings == ["a: set_json left the body as it is, which is a part of a larger one"])
    }

    @Test func whatIsReadIsWhatItIsNow() throws {
        let pointer = try #require(JSONPointer("/a"))
        for (type, old, new) in [
            ("application/json", "{\"a\":\"1\"}", "{\"a\":\"2\"}"), ("application/x-www-form-urlencoded", "a=1", "a=2"),
        ] {
            var body = EditedBody(.whole(Array(old.utf8)), FieldTable(), CodingLimits(size: 1000))
            body.contentType = type
            for (index, text) in ["1", "2"].enumerated() {
                if index == 1 { try body.replace(with: Array(new.utf8)) }
                let values = try body.values(at: pointer).compactMap(\.text) + body.fields(named: "a")
                #expect(values == [text], "\(type)")
            }
        }
    }
}
