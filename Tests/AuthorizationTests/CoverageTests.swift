import Authorization
import Testing

@Suite("Which requests AM is asked about")
struct CoverageTests {
    private func enforcing(_ globs: [(String, Bool)]) -> AuthorizationPolicy {
        var policy = AuthorizationPolicy(
            resources: globs.map { glob, isEnforced in
                var resource = AuthorizationPolicy.Resource(url: glob)
                resource.isEnforced = isEnforced
                return resource
            }, server: am)
        policy.enforcement = Enforcement()
        return policy
    }

    private func isEnforced(
        _ url: String, method: String = "GET", _ lines: [(String, String)] = [],
        _ globs: [(String, Bool)] = [("https://h.test/api/*", true)]
    ) throws -> Bool {
        try enforcing(globs).coverage(of: request(method, url, lines))?.isEnforced == true
    }

    @Test(arguments: [
        "/api/", "/api/x", "/api/x?y", "/x/../api/x", "/x/%2e%2e/api/x", "/x/..%2fapi/x", "/x/..%5Capi/x", "//api/x",
        "/api//x",
        "/api/../x", "/%61pi/x", "/%2561pi/x", "/x;/../api/x", "/api;a=b/x", "/x\\..\\api/x", "/./api/x",
        "/%252e%252e/%25252e/api", "/API/x", "/aPi/", "/x/..%2fAPI/x",
    ])
    func inAnyReading(_ path: String) throws { #expect(try isEnforced("https://h.test\(path)"), "\(path)") }

    @Test(arguments: ["/", "/x", "/apis", "/x/api/", "/x?/api/"])
    func others(_ path: String) throws { #expect(try !isEnforced("https://h.test\(path)")) }

    /// What stands before it in the list counts where it fits in every reading.
    @Test func theFirstThatFitsForSure() throws {
        let globs = [("https://h.test/api/open/*", false), ("https://h.test/api/*", true)]
        #expect(try !isEnforced("https://h.test/api/open/x", globs))
        #expect(try isEnforced("https://h.test/api/x", globs))
        #expect(try isEnforced("https://h.test/api/open/../x", globs))
        #expect(try isEnforced("https://h.test/api/open/..%2fx", globs))
        let other = [("https://h.test/api/*", true), ("https://h.test/api/open/*", false)]
        #expect(try isEnforced("https://h.test/api/open/x", other))
    }

    private func isEnforced(_ url: String, _ globs: [(String, Bool)]) throws -> Bool {
        try isEnforced(url, method: "GET", [], globs)
    }

    @Test func everyKindOfRequest() throws {
        let url = "https://h.test/api/x"
        for method in ["GET", "HEAD", "POST", "DELETE", "PURGE", "OPTIONS", "TRACE"] {
            #expect(try isEnforced(url, method: method), "\(method)")
        }
        #expect(try isEnforced(url, [("Upgrade", "websocket"), ("Connection", "Upgrade")]))
        #expect(try isEnforced(url, [("x-authenticate-response", "header")]))
        // a preflight is asked without a session, and answered without the resource
        #expect(
            try !isEnforced(url, method: "OPTIONS", [("Access-Control-Request-Method", "GET"), ("Origin", "null")]))
        #expect(try isEnforced(url, method: "OPTIONS", [("Access-Control-Request-Method", "GET")]))
        #expect(try isEnforced(url, method: "GET", [("Access-Control-Request-Method", "GET")]))
    }

    // MARK: preflights

    private static let asked = [("Origin", "https://page.test"), ("Access-Control-Request-Method", "PUT")]

    @Test(arguments: [
        [],
        [("Access-Control-Request-Headers", "content-type,x-own"), ("Access-Control-Request-Private-Network", "true")],
        [("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Site", "cross-site"), ("Sec-CH-UA", "x"), ("User-Agent", "b/1")],
        [("Accept", "*/*"), ("Accept-Encoding", "br"), ("Accept-Language", "de"), ("Referer", "https://page.test/")],
        [
            ("Connection", "keep-alive"), ("Proxy-Connection", "keep-alive"), ("Cache-Control", "no-cache"),
            ("DNT", "1"),
        ],
        [("TE", "trailers"), ("Priority", "u=4"), ("Proxy-Authorization", "Basic dTpw"), ("Via", "1.1 other")],
    ])
    func aPreflightIsNotAskedAbout(_ lines: [(String, String)]) throws {
        #expect(try !isEnforced("https://h.test/api/x?a=b", method: "OPTIONS", Self.asked + lines))
    }

    /// In HTTP/2 no field has to announce it.
    @Test func aPreflightHasNoBody() throws {
        let policy = enforcing([("https://h.test/api/*", true)])
        let preflight = try request("OPTIONS", "https://h.test/api/x", Self.asked)
        #expect(policy.coverage(of: preflight) == nil)
        #expect(policy.coverage(of: preflight, hasBody: true)?.isEnforced == true)
    }

    @Test(arguments: [
        [("X-HTTP-Method-Override", "DELETE")], [("X_HTTP_Method_Override", "DELETE")], [("X-Original-URL", "/api/x")],
        [("Upgrade", "websocket"), ("Connection", "Upgrade")], [("Cookie", "a=b")], [("Authorization", "Basic dTpw")],
        [("Content-Length", "0")], [("Content-Type", "text/plain")], [("iPlanetDirectoryPro", "S")], [("X-Own", "1")],
        [("Origin", "https://page.test")], [("Access-Control-Request-Method", "PUT")], [("TE", "chunked")],
    ])
    func whatNoBrowserSendsWithAPreflightIsAskedAbout(_ lines: [(String, String)]) throws {
        #expect(try isEnforced("https://h.test/api/x", method: "OPTIONS", Self.asked + lines), "\(lines)")
    }

    @Test(arguments: ["?_method=DELETE", "?x&%5Fmethod=OPTIONS", "?a;_METHOD", "?[_method]=DELETE"])
    func aPreflightNamesNoOtherMethod(_ query: String) throws {
        #expect(try isEnforced("https://h.test/api/x\(query)", method: "OPTIONS", Self.asked), "\(query)")
    }

    @Test(arguments: [
        ("", "PUT"), ("https://page.test", ""), ("page.test", "PUT"), ("https://page.test", "P U T"), ("*", "PUT"),
    ])
    func aPreflightSaysWhatItAsks(_ origin: String, _ method: String) throws {
        let lines = [("Origin", origin), ("Access-Control-Request-Method", method)]
        #expect(try isEnforced("https://h.test/api/x", method: "OPTIONS", lines))
    }

    @Test func amGuardsItself() throws {
        let all = [("https://am.example.test/*", true)]
        #expect(try !isEnforced("https://am.example.test/am/json/authenticate", all))
        #expect(try !isEnforced("https://am.example.test/am/oauth2/access_token", all))
        for path in ["/am/x", "/oauth2/x", "/x/..%2fam/json/authenticate", "/am/json/authenticate/../../x", "/x"] {
            #expect(try isEnforced("https://am.example.test\(path)", all), "\(path)")
        }
    }

    @Test func adviceCountsAsBefore() throws {
        let policy = enforcing([("https://h.test/api/*", false), ("https://h.test/am/*", true)])
        #expect(try policy.resource(for: request("GET", "https://h.test/api/x")) != nil)
        #expect(try policy.resource(for: request("GET", "https://h.test/api/../x")) == nil)
        #expect(try policy.resource(for: request("OPTIONS", "https://h.test/api/x")) == nil)
        #expect(try policy.resource(for: request("GET", "https://h.test/am/x")) == nil)
    }

    // MARK: path and query

    private static let withdraw = [("https://h.test/withdraw", true)]

    @Test(arguments: [
        "/withdraw", "/withdraw?", "/withdraw?x=1", "/withdraw?x=1&y", "/WITHDRAW?x", "//withdraw?x", "/./withdraw?x",
        "/x/../withdraw?x", "/%77ithdraw?x", "/withdraw;x?y", "/withdraw;x", "/withdraw%3F", "/withdraw%3Fx=1",
        "/withdraw%3fx=1?y", "/withdraw%253Fx", "/x\\..\\withdraw?x", "/x%2f..%2fwithdraw?x",
        "/withdraw%00?x", "/withdraw%23", "/withdraw%23x?y", "/withdraw%2523", "/withdraw%3F/../../x",
        "/withdraw%23/../../x", "/withdraw%25%33%46/..",
    ])
    func aGlobWithoutAQueryCoversAny(_ path: String) throws {
        #expect(try isEnforced("https://h.test\(path)", Self.withdraw), "\(path)")
        let stars = [("https://*.test/*draw", true)]
        #expect(try isEnforced("https://h.test\(path)", stars), "\(path)")
        #expect(try isEnforced("https://h.test\(path)", [("*h.test/withdraw", true)]), "\(path)")
    }

    @Test(arguments: ["/withdrawal", "/withdraw/x?y", "/x?/withdraw", "/with?draw", "/x%3F/withdraw"])
    func otherPaths(_ path: String) throws {
        #expect(try !isEnforced("https://h.test\(path)", Self.withdraw), "\(path)")
    }

    @Test(arguments: [
        "?table=a", "?%74able=a", "?x=1&table=a", "?table=a&x=1", "?TABLE=a", "?table", "?table=", "?x&%74%61ble=a&y",
        "?x=1;table=a", "?table=b&table=a", "?%2574able=a", "?table%3Da", "?&&table=a",
    ])
    func parametersInAnyOrderAndSpelling(_ query: String) throws {
        for path in ["/find", "/%66ind", "//find"] {
            #expect(
                try isEnforced("https://h.test\(path)\(query)", [("https://h.test/find?table=*", true)]), "\(query)")
            #expect(try isEnforced("https://h.test\(path)\(query)", [("https://h.test/find?t*", true)]), "\(query)")
        }
        #expect(
            try isEnforced("https://h.test/find%3F\(query.dropFirst())", [("https://h.test/find?table=*", true)]),
            "\(query)")
    }

    @Test(arguments: ["", "?", "?tables=a", "?x=table", "?x=table=a", "?tabl=e", "?xtable=a"])
    func otherParameters(_ query: String) throws {
        #expect(try !isEnforced("https://h.test/find\(query)", [("https://h.test/find?table=*", true)]), "\(query)")
    }

    @Test func everyParameterIsDemanded() throws {
        let globs = [("https://h.test/find?a=1&b=*x%20y", true)]
        for query in ["a=1&b=x+y", "b=zx%20y&c&a=1", "%62=x%20y&a=2&a=%31"] {
            #expect(try isEnforced("https://h.test/find?\(query)", globs), "\(query)")
        }
        for query in ["a=1", "b=x+y", "a=2&b=x+y", "a=1&b=x", "a=11&b=x+y"] {
            #expect(try !isEnforced("https://h.test/find?\(query)", globs), "\(query)")
        }
    }

    /// As PHP, Rack, ASP.NET and others read names.
    @Test(arguments: [
        "?+table=", "?%20table=a", "?%09table=a", "?%00table=a", "?table[]=", "?table%5B%5D=a", "?table[a][b]=c",
        "?[table]=a",
        "?table%00=a", "?table%00x=a", "??table=a", "?%3Ftable=a", "?table+=a", "?table.x=a", "?%u0074able=a",
        "?%2Btable=a",
    ])
    func namesThatServersReadOtherwise(_ query: String) throws {
        #expect(
            try isEnforced("https://h.test/find\(query)", [("https://h.test/find?table=*", true)]), "\(query)")
    }

    @Test(arguments: ["my.table", "my_table", "my+table", "my[table", "+my%5Ftable", "my.table[]", "my%20table%00"])
    func namesThatNoVariableHas(_ name: String) throws {
        #expect(
            try isEnforced("https://h.test/find?\(name)=a", [("https://h.test/find?my_table=a", true)]), "\(name)")
    }

    /// What such a name demands is met by it, too.
    @Test func namesAsTheyStand() throws {
        for name in ["table[]", "my.table"] {
            #expect(try isEnforced("https://h.test/find?\(name)=a", [("https://h.test/find?\(name)=*", true)]))
        }
        #expect(
            try !isEnforced("https://h.test/find?my_tables=a&x[table]=b", [("https://h.test/find?my_table=*", true)]))
    }

    /// What ends before a question mark that came encoded ends before what lets it through.
    @Test(arguments: ["%3F", "%23", "%253f", "%2523", "%3F/..%3F", ";"])
    func whatStandsBehindIsNoPartOfIt(_ mark: String) throws {
        let globs = [("https://h.test/*.css", false), ("https://h.test/*", true)]
        #expect(try isEnforced("https://h.test/admin\(mark).css", globs))
        #expect(try !isEnforced("https://h.test/admin.css", globs))
    }

    /// A glob over the whole URL still covers all that it did.
    @Test func starsReachIntoTheQuery() throws {
        for glob in ["https://h.test/*/end", "https://h.test/a*z", "*?x=*z/end", "https://h.test/a?*z/end"] {
            #expect(try isEnforced("https://h.test/a?x=1&y=z/end", [(glob, true)]) == (glob != "https://h.test/a*z"))
        }
    }

    @Test func adviceStillCountsWhereTheWholeUrlFits() throws {
        let policy = enforcing([("https://h.test/a", false), ("https://h.test/find?table=*", false)])
        #expect(try policy.resource(for: request("GET", "https://h.test/a")) != nil)
        #expect(try policy.resource(for: request("GET", "https://h.test/a?x")) == nil)
        #expect(try policy.resource(for: request("GET", "https://h.test/find?table=a")) != nil)
        #expect(try policy.resource(for: request("GET", "https://h.test/find?x&table=a")) == nil)
    }
}
