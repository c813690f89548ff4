import Declaration
import Formats
import HTTPCodec
import Testing

@testable import Interception

/// Where values go that somebody else chose: they end neither the line nor the part that they stand in.
struct TemplatePlaceTests {
    private static let hostile = "a\r\nb;c,d\"e&f=g%h\\é\0i/j?k"

    /// The value comes in a query.
    private func applied(
        _ edits: [any RequestEdit], _ value: String = hostile, body: String = "", type: String = "application/json"
    ) throws -> (head: RequestHead, body: String, outcome: Outcome) {
        let head = try request(
            "POST http://shop.example.com/p/q?in=\(PercentCoding.encode(value))\nCookie: old=1\nContent-Type: \(type)")
        var context = EditContext()
        return try Plan(rules: [rule("a", request: edits)]).applied(head, body: body, &context)
    }

    private static let lone = decoded("${request.query.in}")

    @Test("A header keeps to its line, and to its quotation marks")
    func header() throws {
        let done = try applied([
            try made(
                SetHeader.self,
                decoded([
                    "X": Self.lone,
                    "Y": decoded("form-data; name=\"${request.query.in}\"; b=\"\\\"${request.query.in}\""),
                    "Z": decoded("\"a\" ${request.query.in}"),
                ])),
            try made(AddHeader.self, decoded(["X": Self.lone])),
        ])
        let plain = "a  b;c,d\"e&f=g%h\\é i/j?k"
        let quoted = "a  b;c,d\\\"e&f=g%h\\\\é i/j?k"
        #expect(done.head.fields.values(named: "X") == [plain, plain])
        #expect(done.head.fields["Y"] == "form-data; name=\"\(quoted)\"; b=\"\\\"\(quoted)\"")
        #expect(done.head.fields["Z"] == "\"a\" \(plain)")
        #expect(done.outcome.verdict == .proceed && done.outcome.warnings.isEmpty)
    }

    @Test("Fields of cookies are written as cookies are")
    func cookieField() throws {
        let done = try applied([try made(SetHeader.self, decoded(["cookie": decoded("a=${request.query.in}; b=2")]))])
        #expect(done.head.fields["Cookie"] == "a=\(Self.cookie); b=2")
    }

    private static let cookie = "a%0D%0Ab%3Bc%2Cd%22e&f=g%h%5C%C3%A9%00i/j?k"

    @Test("A cookie keeps to itself, and a value that it may have stays as it is")
    func cookies() throws {
        let edit = try made(SetCookie.self, decoded(["name": decoded("c"), "value": Self.lone]))
        #expect(try applied([edit]).head.fields["Cookie"] == "old=1; c=\(Self.cookie)")
        #expect(try applied([edit], "AQIC5w%2F.*AAJ-_=!").head.fields["Cookie"] == "old=1; c=AQIC5w%2F.*AAJ-_=!")
        #expect(try applied([edit], "a b").head.fields["Cookie"] == "old=1; c=a%20b")
        let answer = try made(
            SetCookie.self, decoded(["name": decoded("c"), "value": decoded("x${request.query.in}")]), in: .response)
        var context = EditContext()
        let asked = try request("GET http://a.example/?in=%3B%20Domain=evil")
        let done = try Plan(rules: [rule(response: [answer])]).applied(
            try response("HTTP/1.1 200 OK"), to: asked, &context)
        #expect(done.head.fields["Set-Cookie"] == "c=x%3B%20Domain=evil")
    }

    @Test("A parameter of a query or a form is encoded whole")
    func parameters() throws {
        let encoded = "a%0D%0Ab%3Bc%2Cd%22e%26f%3Dg%25h%5C%C3%A9%00i%2Fj%3Fk"
        let query: [any RequestEdit] = [
            try made(SetQuery.self, decoded(["x": Self.lone])),
            try made(AddQuery.self, decoded(["y": decoded("<${request.query.x}>")])),
        ]
        let done = try applied(query)
        #expect(done.head.query?.hasSuffix("&x=\(encoded)&y=%3C\(encoded)%3E") == true)
        let form: [any RequestEdit] = [
            try made(SetForm.self, decoded(["x": Self.lone])), try made(AddForm.self, decoded(["y": Self.lone])),
        ]
        let posted = try applied(form, body: "a=b", type: "application/x-www-form-urlencoded")
        #expect(posted.body == "a=b&x=\(encoded)&y=\(encoded)")
    }

    @Test("A part of a form takes a value as it is, but none that would end it")
    func parts() throws {
        let type = "multipart/form-data; boundary=zz"
        let body = "--zz\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--zz--\r\n"
        let edit = try made(SetForm.self, decoded(["x": Self.lone]))
        #expect(try applied([edit], "a\r\nb", body: body, type: type).body.contains("\r\n\r\na\r\nb\r\n--zz--"))
        let done = try applied(
            [edit], "a\r\n--zz\r\nContent-Disposition: form-data; name=\"evil\"", body: body, type: type)
        #expect(done.body == body && done.outcome.warnings.count == 1)
    }

    @Test("A value adds no port to a host that is written beside it", arguments: ["a:80", "[::1]", "]", ":"])
    func hostBeside(_ value: String) {
        #expect(TemplatePlace.host.written(value, isQuoted: false, isAlone: true) == value)
        #expect(TemplatePlace.host.written(value, isQuoted: false, isAlone: false) == nil)
        #expect(TemplatePlace.host.written("a", isQuoted: false, isAlone: false) == "a")
    }

    @Test("A path keeps its segments, and a URL its host and query")
    func path() throws {
        let encoded = "a%0D%0Ab%3Bc%2Cd%22e%26f%3Dg%25h%5C%C3%A9%00i%2Fj%3Fk"
        let path = try made(SetPath.self, decoded("/v2/${request.query.in}/x"))
        #expect(try applied([path]).head.path == "/v2/\(encoded)/x")
        let url = try made(SetURL.self, decoded("https://b.example/${request.query.in}?z=${request.query.in}"))
        let done = try applied([url])
        #expect(done.head.url == "https://b.example/\(encoded)?z=\(encoded)")
        #expect(done.outcome.changes == ["a: set URL"], "what came from an exchange is told nowhere")
        #expect(try applied([url], "../..").head.path == "/..%2F..")
        for value in ["..", "."] {
            let kept = try applied([path], value)
            #expect(kept.head.path == "/p/q")
            #expect(
                kept.outcome.warnings == [
                    "a: did not write the path, for what ${request.query.in} has cannot stand there"
                ])
        }
        #expect(try applied([path], "...").head.path == "/v2/.../x")
    }

    @Test(
        "A host is a host",
        arguments: [
            ("${request.query.in}", "b.example", "b.example"), ("${request.query.in}", "b.example:81", "b.example:81"),
            ("${request.query.in}", "[::1]:81", "[::1]:81"), ("${request.query.in}:82", "b.example", "b.example:82"),
            ("${request.query.in}.example", "b", "b.example"), ("${request.query.in}.example", "evil:81", nil),
            ("${request.query.in}", "evil/", nil), ("${request.query.in}", "a@evil", nil),
            ("${request.query.in}", "evil?", nil), ("${request.query.in}", "a b", nil),
            ("${request.query.in}", "", nil),
            ("${request.query.in}", "a\r\nb", nil), ("${request.query.in}", "a:b", nil),
        ] as [(String, String, String?)])
    func host(_ text: String, _ value: String, _ wanted: String?) throws {
        let done = try applied([try made(SetHost.self, decoded(text))], value)
        #expect(done.head.fields.text(done.head.target.authority) == wanted ?? "shop.example.com")
        #expect(done.head.fields["Host"] == wanted ?? "shop.example.com")
        #expect(done.outcome.verdict == .proceed && done.outcome.warnings.count == (wanted == nil ? 1 : 0))
        let field = try applied([try made(SetHeader.self, decoded(["Host": decoded(text)]))], value)
        #expect(field.head.fields["Host"] == wanted ?? "shop.example.com")
    }

    @Test("A value in JSON stays within its string")
    func json() throws {
        let escaped = #"a\r\nb;c,d\"e&f=g%h\\é\u0000i/j?k"#
        let set = try made(
            SetJSON.self, decoded(["/a": decoded(#"{"b":["<${request.query.in}>",1]}"#, asJSON: true)]))
        #expect(try applied([set], body: "{ }").body == #"{"a":{"b":["<\#(escaped)>",1]} }"#)
        let body = try made(SetBody.self, decoded(["json": decoded(#"["${request.query.in}"]"#, asJSON: true)]))
        #expect(try applied([body], body: "").body == #"["\#(escaped)"]"#)
        #expect(try applied([body], "1", body: "").body == #"["1"]"#, "it makes a string, whatever it is like")
    }

    @Test("A text is as it is")
    func text() throws {
        let body = try made(SetBody.self, decoded(["text": decoded("<${request.query.in}>")]))
        let done = try applied([body])
        #expect(done.body == "<\(Self.hostile)>" && done.head.fields["Content-Type"] == "application/json")
        let answer = try made(
            Respond.self,
            decoded([
                "headers": decoded(["X": Self.lone]), "json": decoded(#"{"a":"${request.query.in}"}"#, asJSON: true),
            ]))
        guard case .respond(let made, _) = try applied([answer]).outcome.verdict else {
            Issue.record("no answer")
            return
        }
        #expect(String(decoding: made.body, as: UTF8.self) == #"{"a":"a\r\nb;c,d\"e&f=g%h\\é\u0000i/j?k"}"#)
        #expect(made.headers == [Pair("X", "a  b;c,d\"e&f=g%h\\é i/j?k"), Pair("Content-Type", "application/json")])
    }

    @Test("What is filled in is not looked at again, and neither is what a reference was filled in with")
    func once() throws {
        let header = try made(SetHeader.self, decoded(["X": Self.lone]))
        let again = try made(SetHeader.self, decoded(["Y": decoded("${request.header.X}")]))
        let done = try applied([header, again], "${uuid}${request.query.in}")
        #expect(done.head.fields["X"] == "${uuid}${request.query.in}")
        #expect(done.head.fields["Y"] == "${uuid}${request.query.in}")
        let secret = Decoded(
            position: .start, written: "", content: .template([.text("${uuid}"), .place("request.query.in")]))
        #expect(try applied([try made(SetHeader.self, decoded(["X": secret]))], "1").head.fields["X"] == "${uuid}1")
        let state: [any RequestEdit] = [
            try made(
                SetState.self, decoded(["a": decoded("${state.a}${request.query.in}"), "b": decoded("${state.a}")])),
            SetState([StateChange("a", "${state.a}")]),
            try made(SetHeader.self, decoded(["X": decoded("${state.a}")])),
        ]
        #expect(try applied(state, "1").head.fields["X"] == "${state.a}")
    }

    @Test("What is filled in is bounded")
    func bounds() throws {
        let long = String(repeating: "a", count: 6000)
        let body = #"{"a": "\#(long)"}"#
        func verdict(_ edit: any RequestEdit) throws -> Verdict { try applied([edit], "1", body: body).outcome.verdict }
        func times(_ count: Int) -> Decoded { decoded(String(repeating: "${request.json./a}", count: count)) }
        #expect(try verdict(made(SetHeader.self, decoded(["X": times(2)]))) == .proceed)
        #expect(
            try verdict(made(SetHeader.self, decoded(["X": times(3)])))
                == .abort(interceptor: "a", reason: "the value for header X would be longer than 16384 bytes"))
        for edit in [
            try made(SetQuery.self, decoded(["x": times(3)])), try made(SetHost.self, times(3)),
            try made(SetURL.self, times(3)),
            try made(SetCookie.self, decoded(["name": decoded("a"), "value": times(3)])),
        ] as [any RequestEdit] {
            #expect(try verdict(edit) != .proceed, "\(edit)")
        }
        #expect(try verdict(made(SetBody.self, decoded(["text": times(3)]))) == .proceed)
        #expect(try verdict(made(Respond.self, decoded(["text": times(200)]))) != .proceed)
        guard case .abort = try verdict(made(Respond.self, decoded(["text": times(200)]))) else {
            Issue.record("1.2 MB of an answer")
            return
        }
    }
}
