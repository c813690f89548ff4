import Configuration
import HTTPCodec
import Interception
import ProxyCore
import Testing

/// Edits of bodies as a configuration writes them, and what they do.
struct BodyEditTests {
    private static func plan(_ interceptors: String, file: String = "") throws -> Plan {
        let files = ["usher/body.json": FileContent(bytes: Array(file.utf8))]
        let text = "version: 1\ninterceptors:\n\(interceptors)"
        let loaded = ConfigurationLoader.load(text: text, file: "usher/usher.yaml", environment: ["SECRET": "s3\"cret"])
        {
            path throws(FileFault) in
            guard let content = files[path] else { throw .missing }
            return content
        }
        return Plan(rules: try loaded.get().settings.rules)
    }

    private static func sent(_ plan: Plan, _ type: String, _ body: String) throws -> String {
        var head = try RequestHead(method: "POST", url: "http://a.example/withdraw")
        head.fields.add("Content-Type", type)
        guard let first = plan.firstRequestMatch(head, nil) else { return body }
        var context = EditContext(bodyLimit: 1000)
        #expect(plan.needsRequestBody(from: first, head, &context))
        let done = plan.applyRequest(from: first, to: &head, body: .whole(Array(body.utf8)), &context)
        if case .abort(let name, _) = done.outcome.verdict { return "aborted by \(name)" }
        guard case .replaced(let new) = done.body else { return body }
        return (head.fields["Content-Type"] == type ? "" : "\(head.fields["Content-Type"] ?? "") ")
            + String(decoding: new, as: UTF8.self)
    }

    @Test(
        "Requests",
        arguments: [
            (
                #"set_form: { scope: "openid profile" }"#, "application/x-www-form-urlencoded", "a=%20&scope=x",
                "a=%20&scope=openid%20profile"
            ),
            ("add_form: { a: 1 }", "application/x-www-form-urlencoded", "a=2", "a=2&a=1"),
            (#"remove_form: ["a*", b]"#, "application/x-www-form-urlencoded", "ab=2&c=3&b", "c=3"),
            (#"set_json: { /amount: "200" }"#, "application/json", #"{"amount": 1}"#, #"{"amount": "200"}"#),
            (
                "set_json: { /amount: 2.50, /new: { a: [true, null] } }", "application/json", #"{"amount":1}"#,
                #"{"amount":2.50,"new":{"a":[true,null]}}"#
            ),
            (#"set_json: { /s: "${env.SECRET}" }"#, "application/json", "{}", #"{"s":"s3\"cret"}"#),
            (#"set_json: { "": [1] }"#, "application/json", "{}", "[1]"),
            ("remove_json: [/debug, /a/0]", "application/json", #"{"debug":1,"a":[1,2]}"#, #"{"a":[2]}"#),
            ("remove_json: /debug", "application/json", #"{"debug":1}"#, "{}"),
            ("set_body: { text: hello }", "text/html", "x", "hello"),
            ("set_body: { text: hello, content_type: text/x }", "text/html", "x", "text/x hello"),
            ("set_body: { json: { a: 1 } }", "text/html", "x", #"application/json {"a":1}"#),
            ("set_body: { file: body.json }", "text/html", "x", "from a file"),
            (
                #"replace_body: { "old": "new", "~(\\d+) EUR": "$1 CHF" }"#, "text/plain", "old 5 EUR old",
                "new 5 CHF new"
            ),
        ])
    func requests(_ edit: String, _ type: String, _ body: String, _ expected: String) throws {
        let plan = try Self.plan("  - { name: a, request: [{ \(edit) }] }", file: "from a file")
        #expect(try Self.sent(plan, type, body) == expected)
    }

    @Test("What cannot be edited passes or is refused, as is written")
    func handling() throws {
        func sent(_ keys: String, _ body: String) throws -> String {
            let plan = try Self.plan("  - { name: a, \(keys) request: [{ set_json: { /a: 1 } }] }")
            return try Self.sent(plan, "application/json", body)
        }
        let large = String(repeating: " ", count: 1000) + "{}"
        #expect(try sent("", "no json") == "no json" && sent("", large) == large)
        #expect(try sent("invalid_body: refuse,", "no json") == "aborted by a")
        #expect(try sent("invalid_body: refuse,", large) == large)
        #expect(try sent("over_limit: refuse,", "no json") == "no json")
        #expect(try sent("over_limit: refuse,", large) == "aborted by a")
        #expect(try sent("over_limit: pass, invalid_body: pass,", "no json") == "no json")
    }

    @Test("A file has a bound")
    func file() throws {
        let interceptors = "  - { name: a, request: [{ set_body: { file: body.json } }] }"
        #expect(throws: Never.self) {
            try Self.plan(interceptors, file: String(repeating: "a", count: RuleReader.largestFile))
        }
        #expect {
            try Self.plan(interceptors, file: String(repeating: "a", count: RuleReader.largestFile + 1))
        } throws: { error in
            (error as? ConfigurationFaults)?.diagnostics.map(\.description) == [
                "usher/usher.yaml:3:46: error: this file is larger than 1 MiB"
            ]
        }
    }

    @Test("Responses")
    func responses() throws {
        let plan = try Self.plan(
            """
              - name: no-address
                when: { status: 200 }
                response: [{ remove_json: [/address] }, { set_header: { Cache-Control: no-store } }]
            """)
        var head = ResponseHead(status: 200, reason: "OK")
        head.fields.add("Content-Type", "application/json")
        let asked = try RequestHead(method: "GET", url: "http://a.example/userinfo")
        let first = try #require(plan.firstResponseMatch(head, request: asked, nil))
        let body = Array(#"{"name": "a", "address": {"city": "b"}}"#.utf8)
        var context = EditContext(bodyLimit: 1000)
        #expect(plan.needsResponseBody(from: first, head, request: asked, &context))
        let done = plan.applyResponse(from: first, to: &head, body: .whole(body), request: asked, &context)
        #expect(done.body == .replaced(Array(#"{"name": "a"}"#.utf8)))
        #expect(head.fields["Cache-Control"] == "no-store")
    }
}
