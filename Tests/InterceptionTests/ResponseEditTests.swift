import HTTPCodec
import Interception
import Testing

struct ResponseEditTests {
    static func edit(_ edits: [any ResponseEdit], _ wire: String) throws -> (head: ResponseHead, outcome: Outcome) {
        Plan(rules: [Rule(name: "rule", response: edits)])
            .response(try response(wire), to: try request("GET http://h.example.com/"))
    }

    @Test func headersAndStatus() throws {
        let (head, outcome) = try Self.edit(
            [
                SetHeader([Pair("Cache-Control", "no-store"), Pair("Content-Length", "9")]),
                AddHeader([Pair("X-A", "2")]), RemoveHeader(["x-powered-*", "Transfer-Encoding"]), SetStatus(404),
            ], "HTTP/1.1 200 OK\nX-A: 1\nX-Powered-By: x\nContent-Length: 3")
        #expect(head.status == 404)
        #expect(head.reason == "Not Found")
        #expect(head.fields["Content-Length"] == "3")
        #expect(head.fields["Cache-Control"] == "no-store")
        #expect(head.fields.values(named: "X-A") == ["1", "2"])
        #expect(head.fields["X-Powered-By"] == nil)
        #expect(outcome.verdict == .proceed)
        #expect(
            outcome.changes.map(\.text) == [
                "rule: set header Cache-Control, ignored header Content-Length, which only the proxy itself may change, "
                    + "added header X-A, removed header x-powered-*, ignored header Transfer-Encoding, which only the "
                    + "proxy itself may change, set status 404"
            ])
    }

    @Test func setCookieWritesALine() throws {
        let (head, _) = try Self.edit(
            [
                Interception.SetCookie(CookieEdit(name: "a", value: "1")),
                Interception.SetCookie(
                    CookieEdit(
                        name: "member", value: "gold", domain: "example.com", path: "/x", secure: true, httpOnly: true)),
            ], "HTTP/1.1 200 OK\nSet-Cookie: z=0")
        #expect(
            head.fields.values(named: "Set-Cookie") == [
                "z=0", "a=1", "member=gold; Domain=example.com; Path=/x; Secure; HttpOnly",
            ])
    }

    @Test(
        arguments: [
            SetHeader([Pair("X", "a\r\nb")]), AddHeader([Pair("", "v")]), SetStatus(101), SetStatus(600),
            Interception.SetCookie(CookieEdit(name: "c", value: "v", path: "/;x")),
        ] as [any ResponseEdit])
    func invalidEditsAbort(edit: any ResponseEdit) throws {
        let (_, outcome) = try Self.edit([edit, SetStatus(201)], "HTTP/1.1 200 OK")
        guard case .abort("rule", _) = outcome.verdict else {
            Issue.record("\(edit) did not abort")
            return
        }
    }

    @Test func verdictsEndTheChain() throws {
        let plan = Plan(rules: [
            Rule(name: "request-only", request: [Abort("never")]),
            Rule(name: "one", when: .test(.status, [.range(500...599)]), response: [SetStatus(200)]),
            Rule(name: "two", when: .test(.status, [.exact("200")]), response: [Abort("second thoughts")]),
            Rule(name: "three", response: [SetStatus(201)]),
        ])
        let (head, outcome) = plan.response(
            try response("HTTP/1.1 502 Bad"), to: try request("GET http://h.example.com/"))
        #expect(head.status == 200)
        #expect(outcome.verdict == .abort(interceptor: "two", reason: "second thoughts"))
        #expect(outcome.changes == ["one: set status 200", "two: aborted: second thoughts"])
    }

    @Test func rulesOfTheOtherPhaseDoNothing() throws {
        let plan = Plan(rules: [Rule(name: "r", response: [SetStatus(201)])])
        #expect(plan.firstRequestMatch(try request("GET http://h.example.com/"), nil) == nil)
        #expect(plan.hasResponseRules)
        #expect(!plan.isEmpty)
        #expect(Plan(rules: []).isEmpty)
    }
}
