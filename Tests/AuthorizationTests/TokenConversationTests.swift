import HTTPCodec
import Interception
import Testing

@testable import Authorization

/// How a token is had from AM.
@Suite struct TokenConversationTests {
    private static let server = AuthorizationServer(
        url: "https://am.test/am", host: "am.test", realms: ["/alpha", "/beta"])

    private func source(
        _ manner: TokenSettings.Manner, _ change: (inout TokenSettings) -> Void = { _ in }
    ) -> TokenSource {
        var settings = TokenSettings(resources: ["https://api.test/*"], manner: manner, server: Self.server)
        settings.client = OAuthClient(id: "shop")
        settings.redirectURI = "https://app.test/callback"
        change(&settings)
        return TokenSource(settings)
    }

    private let session = SessionSource(token: "SESSION", carrier: .cookie, affinity: "02")

    private struct Missing: Error {}

    private func sent(_ order: TokenConversation.Command) throws -> (call: ServerCall, form: QueryText, url: String) {
        guard case .send(let call, let url) = order else {
            Issue.record("nothing was sent: \(order)")
            throw Missing()
        }
        return (call, QueryText(String(decoding: call.body, as: UTF8.self)), url)
    }

    private func reason(_ order: TokenConversation.Command) -> String {
        if case .failed(let fault) = order { fault.reason } else { "" }
    }

    private func answer(
        _ talk: inout TokenConversation, _ status: Int = 200, _ body: String = "", _ fields: [(String, String)] = []
    ) -> TokenConversation.Command {
        var head = ResponseHead(status: status, reason: "")
        for field in fields { head.fields.add(field.0, field.1) }
        return talk.answered(head, body: Array(body.utf8), now: 1000)
    }

    @Test func endpointsAreTheRealms() throws {
        var talk = TokenConversation(source(.clientCredentials), past: nil, now: 0)
        #expect(try sent(talk.begin()).url == "https://am.test/am/oauth2/realms/root/realms/alpha/access_token")
        talk = TokenConversation(source(.clientCredentials) { $0.realm = "/beta" }, past: nil, now: 0)
        #expect(try sent(talk.begin()).url.hasSuffix("/realms/beta/access_token"))
        talk = TokenConversation(
            source(.clientCredentials) { $0.server.paths[.accessToken] = "/token" }, past: nil, now: 0)
        #expect(try sent(talk.begin()).url == "https://am.test/token")
    }

    @Test(
        arguments: [
            ("expires_in", "60", 1060, 1030), ("expires_in", "\"600\"", 1600, 1570), ("expires_in", "-1", nil, nil),
            ("expires_in", "1e9", nil, nil), ("other", "1", nil, nil),
        ] as [(String, String, Int?, Int?)])
    func times(name: String, value: String, end: Int?, due: Int?) throws {
        var talk = TokenConversation(source(.clientCredentials), past: nil, now: 0)
        _ = talk.begin()
        guard case .won(let grant) = answer(&talk, 200, "{\"access_token\":\"a\",\"\(name)\":\(value)}") else {
            throw Missing()
        }
        #expect(grant.expires == end && grant.dueAt(before: 30) == due && grant.origin == .fetched)
    }

    @Test(arguments: [
        "{\"access_token\":\"\"}", "{\"access_token\":\"a\\r\\nb\"}", "{\"access_token\":\"a,b\"}",
        "{\"access_token\":1}",
        "[]", "{}", "{\"access_token\":\"a\",\"token_type\":\"DPoP\"}",
    ])
    func whatIsNoToken(body: String) {
        var talk = TokenConversation(source(.clientCredentials), past: nil, now: 0)
        _ = talk.begin()
        guard case .failed(let fault) = answer(&talk, 200, body) else {
            Issue.record("it was taken")
            return
        }
        #expect(!fault.isRefusal && !fault.reason.contains("a,b"))
    }

    @Test func aRefusalTellsTheErrorsNameAlone() {
        var talk = TokenConversation(source(.clientCredentials), past: nil, now: 0)
        _ = talk.begin()
        let order = answer(&talk, 400, "{\"error\":\"invalid_scope\",\"error_description\":\"a1\"}")
        #expect(reason(order) == "AM refused the token request with 400 (invalid_scope)")
        _ = talk.begin()
        #expect(reason(answer(&talk, 400, "{\"error\":\"<a b>\"}")) == "AM refused the token request with 400")
    }

    // MARK: the code flow

    private func authorized() throws -> (TokenConversation, QueryText) {
        var talk = TokenConversation(source(.code) { $0.scope = "openid" }, past: nil, session: session, now: 0)
        let (call, _, url) = try sent(talk.begin())
        #expect(call.head.methodText == "GET" && call.action == .authorize && url.hasSuffix("/authorize"))
        #expect(call.head.fields["Cookie"] == "iPlanetDirectoryPro=SESSION; amlbcookie=02")
        return (talk, QueryText(call.head.query ?? ""))
    }

    @Test func aCodeIsRedeemedWithItsVerifier() throws {
        var (talk, query) = try authorized()
        #expect(
            query["response_type"] == "code" && query["scope"] == "openid" && query["code_challenge_method"] == "S256")
        let order = answer(
            &talk, 302, "", [("Location", "https://app.test/callback?code=c%2F1&state=\(query["state"] ?? "")&iss=x")])
        let form = try sent(order).form
        #expect(form["grant_type"] == "authorization_code" && form["code"] == "c/1")
        #expect(form["redirect_uri"] == "https://app.test/callback" && form["client_id"] == "shop")
        #expect(CodeProof(verifier: form["code_verifier"] ?? "").challenge == query["code_challenge"])
    }

    @Test(arguments: [
        ("https://app.test/callback?code=c&state=other", "the state"),
        ("https://app.test/callback?code=c", "the state"),
        ("https://app.test/callback?code=c&state=STATE&state=STATE", "the state"),
        ("https://app.test/callback?state=STATE", "without a code"),
        ("https://app.test/callback?state=STATE&code=a&code=b", "without a code"),
        ("https://app.test/callback?state=STATE&error=access_denied", "access_denied"),
        ("https://app.test/callback", "without a code"),
        ("https://app.test/callbacks?code=c&state=STATE", "without a code"),
        ("https://app.test.evil/callback?code=c&state=STATE", "elsewhere"),
        ("/am/XUI/?goto=x", "elsewhere"), ("", "elsewhere"),
    ])
    func redirectsThatAreNone(location: String, words: String) throws {
        var (talk, query) = try authorized()
        let place = location.split(separator: "STATE", omittingEmptySubsequences: false).joined(
            separator: query["state"] ?? "")
        #expect(reason(answer(&talk, 302, "", [("Location", place)])).contains(words))
    }

    @Test func withoutASession() {
        var talk = TokenConversation(source(.code), past: nil, now: 0)
        #expect(reason(talk.begin()).contains("no session"))
    }

    // MARK: hosts

    @Test(arguments: [
        ("GET", "https://api.test/a", true), ("GET", "https://api.test:443/a?b", true),
        ("GET", "http://api.test/a", false),
        ("GET", "https://api.test:8443/a", false), ("GET", "https://x.api.test/a", false),
        ("GET", "https://evil.test/api.test/a", false), ("TRACE", "https://api.test/a", false),
        ("OPTIONS", "https://api.test/a", false), ("POST", "https://API.test/a", true),
    ])
    func whoGetsIt(method: String, url: String, isMeant: Bool) throws {
        let policy = TokenPolicy([source(.clientCredentials)])
        let head = try RequestHead(method: method, url: url)
        #expect((policy.source(for: head) != nil) == isMeant)
    }

    @Test func hostsBelowADomain() throws {
        let policy = TokenPolicy([source(.clientCredentials) { $0.resources = ["https://*.api.test/v1/*"] }])
        for (url, isMeant) in [
            ("https://a.api.test/v1/x", true), ("https://api.test/v1/x", false), ("https://aapi.test/v1/x", false),
            ("https://a.api.test/v2/x", false),
        ] {
            #expect((policy.source(for: try RequestHead(method: "GET", url: url)) != nil) == isMeant, "\(url)")
        }
    }

    @Test func whatDependsOnOtherWordsIsAnotherSource() {
        let sources = [
            source(.clientCredentials), source(.clientCredentials) { $0.scope = "a" },
            source(.clientCredentials) { $0.client?.secret = "s" }, source(.learned),
            source(.clientCredentials) { $0.resources.append("https://b.test/*") },
        ]
        #expect(Set(sources).count == 5 && Set(sources + sources).count == 5)
        #expect(source(.clientCredentials) == source(.clientCredentials) { $0.hold = 1 })
    }
}
