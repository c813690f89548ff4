import Authorization
import HTTPCodec
import Interception
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
        "/withdraw%00?x",
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
