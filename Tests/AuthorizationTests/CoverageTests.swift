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
}
