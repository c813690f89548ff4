import Authorization
import Interception
import Testing

@Suite("Protected resources and sessions")
struct ResourceTests {
    private func covers(_ globs: [String], _ url: String, _ method: String = "GET", _ lines: [(String, String)] = [])
        throws -> Bool
    {
        try policy(globs).resource(for: request(method, url, lines)) != nil
    }

    @Test(
        arguments: [
            ("https://shop.example.test/api/*", "https://shop.example.test/api/a?b=c", true),
            ("https://shop.example.test/api/*", "https://SHOP.example.test:443/api/a", true),
            ("https://shop.example.test:443/api/*", "https://shop.example.test/api/a", true),
            ("https://shop.example.test.:443/api/*", "https://shop.example.test/api/a", true),
            ("https://shop.example.test/api/*", "https://Shop.Example.Test./api/a", true),
            ("http://[0::1]:8080/*", "http://[::1]:8080/a", true),
            ("HTTPS://Shop.Example.Test/api/*", "https://shop.example.test/api/a", true),
            ("https://shop.example.test/api/*", "https://shop.example.test/API/a", false),
            ("https://shop.example.test/api/*", "http://shop.example.test/api/a", false),
            ("https://shop.example.test/api/*", "https://shop.example.test:8443/api/a", false),
            ("https://shop.example.test/api/*", "https://shop.example.test/public", false),
            ("https://shop.example.test:8443/*", "https://shop.example.test:8443/", true),
            ("https://*.example.test/*", "https://shop.example.test/", true),
            ("https://*.example.test/*", "https://evil.test/x.example.test/", false),
            ("https://*.example.test/*", "https://evil.test/?x=.example.test/", false),
            ("https://shop.example.test", "https://shop.example.test", true),
            ("https://shop.example.test", "https://shop.example.test/a", false),
            ("https://shop.example*", "https://shop.example.test/a", true),
            ("http://[::1]:8080/*", "http://[::1]:8080/a", true),
            ("*", "http://anything.test/", true),
            ("*/api/*", "http://anything.test/api/x", true),
            ("https://shop.example.test/pay?*", "https://shop.example.test/pay?a=1", true),
        ] as [(String, String, Bool)])
    func globs(_ glob: String, _ url: String, _ expected: Bool) throws {
        #expect(try covers([glob], url) == expected)
    }

    @Test func methodsAndUpgrades() throws {
        let url = "https://shop.example.test/api/a"
        #expect(try covers([url], url, "POST"))
        #expect(try !covers([url], url, "OPTIONS", [("Origin", "https://app.test")]))
        #expect(try !covers([url], url, "GET", [("Connection", "upgrade"), ("Upgrade", "websocket")]))
        #expect(try !covers([url], url, "GET", [("Upgrade", "h2c, websocket")]))
        #expect(try covers([url], url, "GET", [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c")]))
    }

    @Test(arguments: [
        ("POST", "json/realms/root/authenticate", false), ("POST", "json/alpha/authenticate?x=1", false),
        ("POST", "json/authenticate/", false),
        ("POST", "json/realms/root/realms/alpha/sessions/?_action=logout", false),
        ("GET", "oauth2/realms/root/authorize", false), ("POST", "oauth2/access_token", false),
        ("POST", "json/realms/root%2Frealms%2Falpha/authenticate", false),
        ("POST", "json/realms/root/policies?_action=evaluate", true), ("GET", "json/realms/root/users/demo", true),
    ])
    func endpointsOfTheServer(_ method: String, _ path: String, _ expected: Bool) throws {
        #expect(try covers(["*"], "https://am.example.test/am/\(path)", method) == expected)
        #expect(try covers(["*"], "https://other.test/am/\(path)", method))
    }

    @Test func replacedPathsAreTheServersOwn() throws {
        var server = am
        server.paths[.authenticate] = "/auth/login"
        let policy = AuthorizationPolicy(resources: [.init(url: "*")], server: server)
        #expect(try policy.resource(for: request("POST", "https://am.example.test/auth/login")) == nil)
    }

    @Test(arguments: [
        ("json/realms/root/policies?_action=evaluate", "/"), ("json/policies?_action=evaluate", "/"),
        ("json/realms/root/realms/alpha/policies?_action=evaluate", "/alpha"),
        ("json/realms/alpha/policies/?_action=evaluate", "/alpha"), ("json/alpha/policies?_action=evaluate", "/alpha"),
        ("json/policies?_action=evaluate&realm=/alpha", "/alpha"),
        ("json/realms/root/policies?_action=evaluateTree", "/"), ("json/realms/root/policies?_action=other", nil),
        ("json/realms/root/policies/p1?_action=evaluate", nil), ("policies?_action=evaluate", nil),
    ])
    func policyEvaluations(_ path: String, _ realm: String?) throws {
        let head = try request("POST", "https://am.example.test/am/\(path)")
        #expect(policy().isPolicyEvaluation(head) == (realm != nil))
        #expect(policy().evaluatedRealm(head) == realm)
        #expect(try !policy().isPolicyEvaluation(request("POST", "https://other.test/am/\(path)")))
    }

    @Test func theHeaderIsOfferedWhereUsherCanAct() throws {
        let url = "https://shop.example.test/api/a"
        let resource = AuthorizationPolicy.Resource(url: url)
        let safe = AuthorizationPolicy.Resource(url: url, replay: .safe)
        let get = try request("GET", url)
        let post = try request("POST", url)
        let asking = try request("GET", url, [("X-Authenticate-Response", "header")])
        #expect(policy().offersHeader(on: get, resource) && policy().offersHeader(on: post, resource))
        #expect(policy().offersHeader(on: get, safe) && !policy().offersHeader(on: post, safe))
        #expect(!policy().offersHeader(on: asking, resource))
        var silent = policy()
        silent.offersHeader = false
        #expect(!silent.offersHeader(on: get, resource))

        #expect(policy().clientHandlesAdvice(asking) && !policy().clientHandlesAdvice(get))
        var acting = policy()
        acting.whenClientHandlesAdvice = .act
        #expect(!acting.clientHandlesAdvice(asking))
    }

    @Test func whatCannotBeReplayedSaysWhy() throws {
        let url = "https://shop.example.test/api/a"
        func reason(
            _ method: String, _ scope: AuthorizationPolicy.ReplayScope, _ whole: Bool, _ line: (String, String)?
        )
            throws -> String?
        {
            let head = try request(method, url, line.map { [$0] } ?? [])
            return policy().refusalToReplay(head, .init(url: url, replay: scope), bodyComplete: whole)
        }
        #expect(try reason("GET", .safe, true, nil) == nil)
        #expect(try reason("HEAD", .safe, true, nil) == nil)
        #expect(try reason("PATCH", .any, true, nil) == nil)
        #expect(try reason("POST", .safe, true, nil)?.contains("replay: safe") == true)
        #expect(try reason("POST", .any, false, nil)?.contains("body_limit") == true)
        #expect(try reason("OPTIONS", .any, true, nil) != nil)
        #expect(try reason("GET", .any, true, ("Upgrade", "websocket")) != nil)
    }

    /// A success, and a See Other, say that the request was carried out (RFC 9110 §15.4.4). Enforcement points redirect
    /// with the other codes, before the resource is asked.
    @Test(arguments: [
        (201, false), (303, false), (301, true), (302, true), (307, true), (308, true), (401, true),
    ])
    func whatWasCarriedOutIsNotSentTwice(_ status: Int, _ again: Bool) throws {
        let url = "https://shop.example.test/api/a"
        func reason(_ method: String, _ scope: AuthorizationPolicy.ReplayScope?) throws -> String? {
            try policy().refusalToReplay(
                request(method, url), .init(url: url, replay: scope), bodyComplete: true, after: status)
        }
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
            #expect(try (reason(method, nil) == nil) == again, "\(method)")
            #expect(try reason(method, .any) == nil && reason(method, .safe) != nil)
        }
        #expect(try reason("GET", nil) == nil && reason("HEAD", .safe) == nil)
        if !again { #expect(try reason("POST", nil)?.contains("\(status)") == true) }
    }

    // MARK: sessions

    private func session(_ lines: [(String, String)]) throws -> SessionSource? {
        try SessionSource.find(in: request("GET", "https://shop.example.test/", lines), body: nil, policy: policy())
    }

    @Test func whereTheSessionStands() throws {
        #expect(
            try session([("Cookie", "a=b; iPlanetDirectoryPro=S*1==; amlbcookie=01")])
                == SessionSource(token: "S*1==", carrier: .cookie, affinity: "01"))
        #expect(
            try session([("Cookie", "amlbcookie=02"), ("cookie", "iPlanetDirectoryPro=S")])
                == SessionSource(token: "S", carrier: .cookie, affinity: "02"))
        #expect(try session([("IPLANETDIRECTORYPRO", "H")]) == SessionSource(token: "H", carrier: .header))
        #expect(try session([("Cookie", "iPlanetDirectoryPro=C"), ("iPlanetDirectoryPro", "H")])?.token == "C")
        #expect(try session([("Cookie", "iPlanetDirectoryPro=1; iPlanetDirectoryPro=2")])?.token == "1")
        #expect(try session([("Cookie", "iplanetdirectorypro=x")]) == nil)
        #expect(try session([("Cookie", "iPlanetDirectoryPro=")]) == nil)
        #expect(try session([("iPlanetDirectoryPro", "a; admin=1")]) == nil)
        // a semicolon alone begins another cookie
        #expect(try session([("iPlanetDirectoryPro", "a;admin=1")]) == nil)
        #expect(try session([]) == nil)
    }

    @Test func aPolicyEvaluationIsAboutItsSubject() throws {
        let head = try request(
            "POST", "https://am.example.test/am/json/policies?_action=evaluate",
            [("Cookie", "iPlanetDirectoryPro=CALLER; amlbcookie=01")])
        func find(_ text: String) -> SessionSource? {
            SessionSource.find(in: head, body: Array(text.utf8), policy: policy())
        }
        #expect(find("{\"subject\":{\"ssoToken\":\"USER\"}}") == SessionSource(token: "USER", carrier: .subject))
        #expect(find("{\"subject\":{\"ssoToken\":\"CALLER\"}}")?.affinity == "01")
        #expect(find("{\"subject\":{\"claims\":{\"sub\":\"x\"}}}") == nil)
        #expect(find("{\"subject\":{\"ssoToken\":\"a\\r\\nb\"}}") == nil)
        #expect(find("{\"subject\":{\"ssoToken\":\"a;admin=1\"}}") == nil)
        #expect(find("{}")?.token == "CALLER")
        #expect(find("{\"subject\":null}")?.token == "CALLER")
        // whom it is about cannot be told
        #expect(find("no json") == nil && find("[1]") == nil)
        #expect(find("{\"subject\":{\"ssoToken\":\"A\"},\"subject\":{\"ssoToken\":\"B\"}}") == nil)
        #expect(find("{\"subject\":{\"ssoToken\":\"A\",\"ssoToken\":\"B\"}}") == nil)
    }
}
