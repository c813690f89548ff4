import HTTPCodec
import Interception
import Testing

struct RequestEditTests {
    static func edit(_ edits: [any RequestEdit], _ wire: String) throws -> (head: RequestHead, outcome: Outcome) {
        Plan(rules: [Rule(name: "rule", request: edits)]).request(try request(wire))
    }

    static func aborts(_ edit: any RequestEdit, _ wire: String = "GET http://h.example.com/p?q=1") throws -> String {
        let before = try request(wire)
        let (_, outcome) = Plan(rules: [Rule(name: "bad", request: [edit, SetMethod("NEVER")])]).request(before)
        guard case .abort(let name, let reason) = outcome.verdict else {
            Issue.record("\(edit) did not abort")
            return ""
        }
        #expect(name == "bad")
        #expect(outcome.changes == ["bad: aborted: \(reason)"])
        return reason
    }

    @Test func nothingRunsBehindTheRuleThatAborts() throws {
        let rules = [
            Rule(name: "bad", request: [SetHeader([Pair("X", "a\nb")])]),
            Rule(name: "late", request: [SetHeader([Pair("X-Late", "1")])]),
        ]
        let (head, outcome) = Plan(rules: rules).request(try request("GET http://h.example.com/"))
        #expect(head.fields["X-Late"] == nil && outcome.changes.count == 1)
        guard case .abort("bad", _) = outcome.verdict else { return #expect(Bool(false), "\(outcome.verdict)") }
    }

    // MARK: what is said

    @Test("What each edit did is told in the order of the edits, whichever of them did something else than asked")
    func words() throws {
        let set: any RequestEdit = SetHeader([Pair("X-A", "1"), Pair("X-B", "2")])
        let query: any RequestEdit = SetQuery([Pair("a", "1")])
        let gone: any RequestEdit = RemoveHeader(["X-Gone"])
        func told(_ edits: [any RequestEdit]) throws -> [String] {
            try Self.edit(edits, "GET http://h.example.com/").outcome.changes.map(\.text)
        }
        let (a, b, c) = ("set header X-A, set header X-B", "set query a", "found no header X-Gone to remove")
        #expect(try told([set, query]) == ["rule: \(a), \(b)"])
        #expect(try told([set, gone, query]) == ["rule: \(a), \(c), \(b)"])
        #expect(try told([gone, query, set]) == ["rule: \(c), \(b), \(a)"])
        #expect(try told([set, Delay(.fixed(1)), query]) == ["rule: \(a), \(b)"])
        #expect(try told([query, SetPath("no")]).first?.hasPrefix("rule: set query a, aborted: ") == true)
        #expect(try told([Delay(.fixed(1))]) == [])
    }

    @Test(
        "A query is edited the same, however its names are written",
        arguments: ["", "?", "?b=2", "?a=1&a=2&c", "?%61=1&b=%2f", "?x+y=1&&", "?aa=1&ba=2", "?c=a"])
    func queries(_ text: String) throws {
        for pairs in [
            [Pair("a", "&=")], [Pair("x y", "1"), Pair("b", "\u{E9}")], [Pair("a", "1"), Pair("a", "2")], [],
        ] {
            for (edit, adds) in [(SetQuery(pairs) as any RequestEdit, false), (AddQuery(pairs), true)] {
                var query = QueryText(text.dropFirst())
                for pair in pairs {
                    if adds { query.add(pair.name, pair.value) } else { query.set(pair.name, pair.value) }
                }
                let (head, outcome) = try Self.edit([edit], "GET http://h.example.com/p;v" + text)
                #expect(head.query ?? "" == query.text, "\(pairs)")
                if pairs.isEmpty { #expect(head.url == "http://h.example.com/p;v" + text) }
                #expect(head.path == "/p;v" && head.host == "h.example.com" && outcome.verdict == .proceed)
            }
        }
    }

    // MARK: headers

    @Test func headers() throws {
        let (head, outcome) = try Self.edit(
            [
                SetHeader([Pair("accept", "text/plain"), Pair("X-New", "1")]), AddHeader([Pair("X-New", "2")]),
                RemoveHeader(["X-Sdk-*", "cookie", "absent"]),
            ], "GET http://h.example.com/\nAccept: a\nACCEPT: b\nX-SDK-One: 1\nx-sdk-two: 2\nCookie: a=b")
        #expect(head.fields.values(named: "Accept") == ["text/plain"])
        #expect(head.fields.values(named: "X-New") == ["1", "2"])
        #expect(head.fields.count == 4)
        #expect(
            outcome.changes.map(\.text) == [
                "rule: set header accept, set header X-New, added header X-New, removed header X-Sdk-*, "
                    + "removed header cookie, found no header absent to remove"
            ])
        #expect(outcome.verdict == .proceed)
    }

    @Test(arguments: [
        "Content-Length", "transfer-encoding", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
        "UPGRADE",
    ])
    func framingIsNotTheirs(name: String) throws {
        let wire = "POST http://h.example.com/\nContent-Length: 3\nConnection: close\nTE: trailers"
        let before = try request(wire)
        let edits: [any RequestEdit] = [
            SetHeader([Pair(name, "7")]), AddHeader([Pair(name, "7")]), RemoveHeader([name]),
        ]
        for edit in edits {
            let (head, outcome) = try Self.edit([edit], wire)
            #expect(head.fields.lines.map(\.value) == before.fields.lines.map(\.value))
            #expect(outcome.changes == ["rule: ignored header \(name), which only the proxy itself may change"])
        }
    }

    @Test func aGlobLeavesFramingAndHost() throws {
        let (head, _) = try Self.edit(
            [RemoveHeader(["*"])], "POST http://h.example.com/\nContent-Length: 3\nConnection: close\nAccept: a")
        #expect(head.fields.lines.map(\.name) == ["Content-Length", "Connection", "Host"])
    }

    @Test func hostAndAuthorizationAreTheirs() throws {
        let (head, _) = try Self.edit(
            [SetHeader([Pair("Host", "virtual.example.com:8080"), Pair("Authorization", "Bearer t")])],
            "GET http://h.example.com/\nAuthorization: old")
        #expect(head.fields["Host"] == "virtual.example.com:8080")
        #expect(head.fields["Authorization"] == "Bearer t")
        #expect(head.host == "h.example.com")
        #expect(head.url == "http://h.example.com/")
    }

    @Test(arguments: ["a\r\nX-Injected: 1", "a\nb", "a\0b", "a\u{7F}b", "\u{1}"])
    func valuesThatNoHeaderMayHold(value: String) throws {
        #expect(try Self.aborts(SetHeader([Pair("X", value)])).contains("header X"))
        #expect(try Self.aborts(AddHeader([Pair("X", value)])).contains("header X"))
        #expect(try Self.aborts(Interception.SetCookie(CookieEdit(name: "c", value: value))).contains("cookie c"))
        #expect(!(try Self.aborts(SetHost(value))).isEmpty)
        #expect(!(try Self.aborts(SetPath("/" + value))).isEmpty)
        #expect(!(try Self.aborts(SetMethod(value))).isEmpty)
    }

    @Test(arguments: ["", "X Y", "X:", "X\r\n", "Ü"])
    func namesThatNoHeaderMayHave(name: String) throws {
        _ = try Self.aborts(SetHeader([Pair(name, "v")]))
        _ = try Self.aborts(AddHeader([Pair(name, "v")]))
        _ = try Self.aborts(Interception.SetCookie(CookieEdit(name: name, value: "v")))
    }

    @Test func aBadHostFieldAborts() throws {
        _ = try Self.aborts(SetHeader([Pair("Host", "a b")]))
        _ = try Self.aborts(SetHeader([Pair("host", "")]))
        _ = try Self.aborts(SetHeader([Pair("Host", "user@h")]))
        _ = try Self.aborts(AddHeader([Pair("Host", "second.example.com")]))
    }

    // MARK: query

    @Test(
        arguments: [
            ([SetQuery([Pair("ForceAuth", "true")])], "", "?ForceAuth=true"),
            ([SetQuery([Pair("ForceAuth", "true")])], "?a=%7e+x&flag", "?a=%7e+x&flag&ForceAuth=true"),
            ([SetQuery([Pair("a", "n w&=")])], "?z=%2f&a=1&b=&a=2&c", "?z=%2f&a=n%20w%26%3D&b=&c"),
            ([SetQuery([Pair("a", "1")])], "?%61=0", "?a=1"),
            ([AddQuery([Pair("a", "2"), Pair("é", "ü")])], "?a=1", "?a=1&a=2&%C3%A9=%C3%BC"),
            ([RemoveQuery(["a"])], "?a=1&b=%2F&a=2", "?b=%2F"),
            ([RemoveQuery(["a*"])], "?a=1&ab=2&b=3", "?b=3"),
            ([RemoveQuery(["a"])], "?a=1", ""),
            ([RemoveQuery(["x"])], "?a=1&&b", "?a=1&&b"),
            ([SetQuery([Pair("a", "1")]), RemoveQuery(["b"])], "?b=1", "?a=1"),
            ([SetQuery([Pair("a", "x\r\ny")])], "", "?a=x%0D%0Ay"),
        ] as [([any RequestEdit], String, String)])
    func query(edits: [any RequestEdit], before: String, after: String) throws {
        let (head, outcome) = try Self.edit(edits, "GET https://h.example.com:8443/p%20q\(before)")
        #expect(head.url == "https://h.example.com:8443/p%20q\(after)")
        #expect(outcome.verdict == .proceed)
        #expect(head.fields["Host"] == "h.example.com:8443")
    }

    @Test func queryInOriginForm() throws {
        let before = try request("GET /p?a=1\nHost: h.example.com:8080", scheme: .https)
        let (head, _) = Plan(rules: [Rule(name: "r", request: [SetQuery([Pair("b", "2")])])]).request(before)
        #expect(head.url == "https://h.example.com:8080/p?a=1&b=2")
        #expect(head.fields.text(head.target.pathAndQuery) == "/p?a=1&b=2")
    }

    // MARK: URL and method

    @Test(
        arguments: [
            (
                [SetURL("https://other.example.com/x?y=1")], "https://other.example.com/x?y=1",
                "other.example.com"
            ),
            ([SetURL("http://h.example.com:8080/x")], "http://h.example.com:8080/x", "kept.example.com"),
            ([SetURL("http://h.example.com:8080/ü")], "http://h.example.com:8080/%C3%BC", "kept.example.com"),
            ([SetHost("other.example.com")], "http://other.example.com:8080/a/b?q=%2f", "other.example.com:8080"),
            ([SetHost("other.example.com:")], "http://other.example.com/a/b?q=%2f", "other.example.com"),
            ([SetHost("other.example.com:80")], "http://other.example.com/a/b?q=%2f", "other.example.com:80"),
            ([SetHost("[::1]")], "http://[::1]:8080/a/b?q=%2f", "[::1]:8080"),
            ([SetHost("[::1]:9")], "http://[::1]:9/a/b?q=%2f", "[::1]:9"),
            ([SetPath("/new/p")], "http://h.example.com:8080/new/p?q=%2f", "kept.example.com"),
        ] as [([any RequestEdit], String, String)])
    func urls(edits: [any RequestEdit], url: String, host: String) throws {
        let (head, outcome) = try Self.edit(
            edits, "GET http://h.example.com:8080/a/b?q=%2f\nHost: kept.example.com")
        #expect(outcome.verdict == .proceed)
        #expect(head.url == url)
        #expect(head.fields.values(named: "Host") == [host])
    }

    @Test(arguments: [
        (
            "^http://[^/]+/(\\w)/(\\w)", "https://w.example.com/$2/$1/$$/$0x$9",
            "https://w.example.com/b/a/$/http://h.example.com:8080/a/bx?q=%2f", "w.example.com"
        ),
        ("[ab](?=[/?])", "z", "http://h.example.com:8080/z/z?q=%2f", "kept.example.com"),
        ("(/a)|(/q)", "$1$2/", "http://h.example.com:8080/a//b?q=%2f", "kept.example.com"),
        ("nowhere", "z", "http://h.example.com:8080/a/b?q=%2f", "kept.example.com"),
    ])
    func rewriting(pattern: String, replacement: String, url: String, host: String) throws {
        let (head, outcome) = try Self.edit(
            [RewriteURL(try Pattern(pattern), replacement)],
            "GET http://h.example.com:8080/a/b?q=%2f\nHost: kept.example.com")
        #expect(outcome.verdict == .proceed)
        #expect(head.url == url)
        #expect(head.fields.values(named: "Host") == [host])
    }

    @Test func method() throws {
        let (head, outcome) = try Self.edit([SetMethod("PATCH")], "POST http://h.example.com/")
        #expect(head.method == .patch)
        #expect(head.methodText == "PATCH")
        #expect(outcome.changes == ["rule: set method PATCH"])
    }

    @Test func invalidTargetsAbort() throws {
        for url in [
            "", "/path", "ftp://h/", "http://", "http://h/a b", "http://u:p@h/", "http://h:99999/", "http://h/#f",
        ] {
            #expect(try Self.aborts(SetURL(url)).contains("URL"))
        }
        for host in ["", "h/x", "h:0", "u@h", "::1", "h?x"] { _ = try Self.aborts(SetHost(host)) }
        for path in ["", "p", "/p?q", "/p#f", "/p q"] { _ = try Self.aborts(SetPath(path)) }
        for method in ["", "G T", "CONNECT"] { _ = try Self.aborts(SetMethod(method)) }
        _ = try Self.aborts(RewriteURL(try Pattern("^http://"), "gopher://"))
        _ = try Self.aborts(SetQuery([Pair("a", "1")]), "OPTIONS *\nHost: h.example.com")
    }

    // MARK: verdicts

    @Test func theFirstVerdictEndsTheChain() throws {
        let answer = DirectResponse(status: 503, headers: [Pair("Retry-After", "60"), Pair("Content-Length", "1")])
        let plan = Plan(rules: [
            Rule(name: "one", request: [SetHeader([Pair("X-One", "1")])]),
            Rule(name: "two", request: [Respond(answer), Abort("never")]),
            Rule(name: "three", request: [Abort("never")]),
        ])
        let (head, outcome) = plan.request(try request("GET http://h.example.com/"))
        #expect(
            outcome.verdict
                == .respond(DirectResponse(status: 503, headers: [Pair("Retry-After", "60")]), interceptor: "two"))
        #expect(outcome.changes == ["one: set header X-One", "two: responded with 503 in the origin's place"])
        #expect(head.fields["X-One"] == "1")

        let aborted = Plan(rules: [Rule(name: "stop", request: [Abort("closed for today")])])
            .request(try request("GET http://h.example.com/")).outcome
        #expect(aborted.verdict == .abort(interceptor: "stop", reason: "closed for today"))
        #expect(aborted.changes == ["stop: aborted: closed for today"])
    }

    @Test func anAnswerThatIsNotValidAborts() throws {
        _ = try Self.aborts(Respond(DirectResponse(status: 99)))
        _ = try Self.aborts(Respond(DirectResponse(status: 200, headers: [Pair("X", "a\r\nb")])))
    }

    @Test func eachRuleSeesWhatTheOneBeforeLeft() throws {
        let plan = Plan(rules: [
            Rule(
                name: "early", when: .test(.header("X-Mark"), [.glob("*")]),
                request: [AddHeader([Pair("X-Early", "1")])]),
            Rule(name: "mark", request: [SetHeader([Pair("X-Mark", "1")]), SetHost("b.example.com")]),
            Rule(
                name: "late", when: .test(.host, [.exact("b.example.com")]),
                request: [AddHeader([Pair("X-Late", "1")])]),
            Rule(name: "gone", when: .test(.host, [.exact("a.example.com")]), request: [Abort("no")]),
            Rule(name: "answers", response: [SetHeader([Pair("X-Answer", "1")])]),
        ])
        let (head, outcome) = plan.request(try request("GET http://a.example.com/"))
        #expect(outcome.verdict == .proceed)
        #expect(head.fields["X-Early"] == nil)
        #expect(head.fields["X-Late"] == "1")
        #expect(outcome.changes.count == 2)
    }
}
