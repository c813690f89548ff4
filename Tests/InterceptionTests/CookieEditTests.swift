import HTTPCodec
import Testing

@testable import Interception

struct CookieEditTests {
    static func send(_ cookie: CookieEdit, _ wire: String) throws -> (cookies: [String], note: String) {
        let (head, outcome) = try RequestEditTests.edit([Interception.SetCookie(cookie)], wire)
        return (head.fields.values(named: "Cookie"), outcome.changes.first?.text ?? "")
    }

    @Test(arguments: [
        ("", ["member=gold"]), ("\nCookie: a=1", ["a=1; member=gold"]), ("\nCookie: member=old", ["member=gold"]),
        ("\nCookie: a=1;member=old;  b=\"x\"; member=older", ["a=1; member=gold; b=\"x\""]),
        ("\nCookie: a=1\nCookie: member=old; b=2", ["a=1", "member=gold; b=2"]),
        ("\nCookie: member=old\nCookie: member=older\nCookie: member=x; c=3", ["member=gold", "c=3"]),
        ("\nCookie: members=1", ["members=1; member=gold"]),
    ])
    func replacesOrAppends(before: String, after: [String]) throws {
        let (cookies, note) = try Self.send(
            CookieEdit(name: "member", value: "gold"), "GET https://h.example.com/\(before)")
        #expect(cookies == after)
        #expect(note == "rule: set cookie member")
    }

    @Test(arguments: [
        ("example.com", "example.com", true), ("example.com", "shop.example.com", true),
        (".example.com", "example.com", true), ("EXAMPLE.com", "Shop.Example.COM", true),
        ("example.com", "badexample.com", false), ("shop.example.com", "example.com", false),
        ("example.com", "example.com.test", false), ("127.0.0.1", "127.0.0.1", true),
        ("0.0.1", "127.0.0.1", false), ("[::1]", "[::1]", true), ("::1", "[::1]", true),
    ])
    func domain(domain: String, host: String, sent: Bool) throws {
        let (cookies, note) = try Self.send(
            CookieEdit(name: "c", value: "v", domain: domain), "GET http://\(host)/")
        #expect(cookies.isEmpty != sent)
        if !sent { #expect(note.hasPrefix("rule: did not send cookie c: its domain ")) }
    }

    @Test(arguments: [
        ("/", "/", true), ("/", "/a/b", true), ("/a", "/a", true), ("/a", "/a/b", true), ("/a/", "/a/b", true),
        ("/a", "/ab", false), ("/a/", "/a", false), ("/a", "/A", false), ("/a", "/", false), ("relative", "/x", true),
        ("/", "", true), ("/a", "", false),
    ])
    func path(cookiePath: String, path: String, sent: Bool) throws {
        let (cookies, note) = try Self.send(
            CookieEdit(name: "c", value: "v", path: cookiePath), "GET http://h.example.com\(path)?q=1")
        #expect(cookies.isEmpty != sent)
        if !sent { #expect(note.contains("its path \(cookiePath) does not admit")) }
    }

    @Test(
        "A Set-Cookie line says all of it",
        arguments: [
            (CookieEdit(name: "a", value: "b"), "a=b"),
            (
                CookieEdit(
                    name: "__Host-a", value: "", path: "/", secure: true, httpOnly: true, maxAge: 0,
                    expires: "Wed, 21 Oct 2026 07:28:00 GMT", sameSite: .strict),
                "__Host-a=; Path=/; Max-Age=0; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Secure; HttpOnly; SameSite=Strict"
            ),
            (
                CookieEdit(
                    name: "a", value: "b", domain: "example.com", secure: true, maxAge: 60, sameSite: .unrestricted),
                "a=b; Domain=example.com; Max-Age=60; Secure; SameSite=None"
            ),
        ])
    func line(_ cookie: CookieEdit, _ line: String) throws {
        let plan = Plan(rules: [Rule(name: "rule", response: [Interception.SetCookie(cookie)])])
        let asked = try request("GET https://a.example/")
        let (head, _) = plan.response(try response("HTTP/1.1 200 OK\nSet-Cookie: x=y, z; Path=/"), to: asked)
        #expect(head.fields.values(named: "Set-Cookie") == ["x=y, z; Path=/", line])
        #expect(cookie.refusal == nil)
    }

    @Test("What a store would refuse is known, and a date that would begin an attribute is not written")
    func refusals() throws {
        #expect(CookieEdit(name: "a", value: "b", sameSite: .unrestricted).refusal != nil)
        #expect(CookieEdit(name: "__Secure-a", value: "b").refusal != nil)
        #expect(CookieEdit(name: "__Host-a", value: "b", secure: true).refusal != nil)
        #expect(CookieEdit(name: "__Host-a", value: "b", domain: "a.example", path: "/", secure: true).refusal != nil)
        let plan = Plan(rules: [
            Rule(
                name: "rule",
                response: [Interception.SetCookie(CookieEdit(name: "a", value: "b", expires: "x; Secure"))])
        ])
        let (_, outcome) = plan.response(try response("HTTP/1.1 200 OK"), to: try request("GET https://a.example/"))
        #expect(outcome.verdict != .proceed)
    }

    @Test("Lines of one name are taken out of a response, and no others")
    func removal() throws {
        let plan = Plan(rules: [Rule(name: "rule", response: [RemoveCookie(["session", "t_*"])])])
        let answer = """
            HTTP/1.1 200 OK
            Set-Cookie: session=a; Path=/
            set-cookie: other=session; Domain=session
            Set-Cookie: sessions=b; Expires=Wed, 21 Oct 2026 07:28:00 GMT
            Set-Cookie: t_a=1
            Cookie: session=a
            Set-Cookie: no pair
            """
        let (head, outcome) = plan.response(try response(answer), to: try request("GET https://a.example/"))
        #expect(
            head.fields.values(named: "Set-Cookie") == [
                "other=session; Domain=session", "sessions=b; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "no pair",
            ])
        #expect(head.fields["Cookie"] == "session=a")
        #expect(outcome.changes == ["rule: removed cookie session, removed cookie t_*"])
    }

    @Test func secureNeedsHTTPS() throws {
        let cookie = CookieEdit(name: "member", value: "gold", domain: "example.com", secure: true, httpOnly: true)
        #expect(try Self.send(cookie, "GET https://shop.example.com/").cookies == ["member=gold"])
        let (cookies, note) = try Self.send(cookie, "GET http://shop.example.com/")
        #expect(cookies.isEmpty)
        #expect(note == "rule: did not send cookie member: it is secure and the request is not https")
    }

    @Test(arguments: [
        (["a"], ["b=2; c=3", "d=4"]), (["a", "b", "c"], ["d=4"]), (["*"], []), (["d"], ["a=1; b=2;c=3"]),
        (["x"], ["a=1; b=2;c=3", "d=4"]), (["A"], ["a=1; b=2;c=3", "d=4"]),
    ])
    func removal(names: [String], after: [String]) throws {
        let (head, _) = try RequestEditTests.edit(
            [RemoveCookie(names)], "GET http://h.example.com/\nCookie: a=1; b=2;c=3\nCookie: d=4")
        #expect(head.fields.values(named: "Cookie") == after)
    }

    @Test func aCookieCannotBringAnother() throws {
        #expect(
            try RequestEditTests.aborts(Interception.SetCookie(CookieEdit(name: "a", value: "1; admin=1"))).contains(
                "cookie a"))
    }

    @Test func valuesAreNeverReported() throws {
        let secret = "s3cr3t"
        let (_, outcome) = try RequestEditTests.edit(
            [
                Interception.SetCookie(CookieEdit(name: "c", value: secret)),
                SetHeader([Pair("Authorization", secret)]),
                SetQuery([Pair("token", secret)]), SetURL("http://h.example.com/?token=\(secret)"),
            ], "GET http://h.example.com/")
        #expect(outcome.changes.count == 1)
        #expect(!outcome.changes.map(\.words).joined().contains(secret))
    }
}
