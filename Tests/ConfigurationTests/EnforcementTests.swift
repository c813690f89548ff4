import Authorization
import Configuration
import ProxyCore
import Testing

@Suite("How AM is asked, as it is written")
struct EnforcementTests {
    private func policy(_ authorization: String) throws -> AuthorizationPolicy {
        let text = """
            version: 1
            am: [{ url: "http://am.localhost/am", realms: [/, /alpha] }]
            authorization: \(authorization)
            """
        return try #require(snapshot(text).settings.authorization.first)
    }

    @Test func whatHoldsWithoutAWord() throws {
        let policy = try self.policy(
            "{ resources: [{ url: 'http://a.localhost/*', enforce: am }, 'http://b.localhost/*'], enforce: { application: shop } }"
        )
        #expect(
            policy.resources.map(\.isEnforced) == [true, false] && policy.resources.allSatisfy { $0.translation == nil }
        )
        var standard = Enforcement()
        standard.application = "shop"
        #expect(policy.enforcement == standard && standard.caller == .app && standard.includesQuery)
    }

    @Test func nobodyIsAsked() throws {
        #expect(try policy("{ resources: [{ url: 'http://a.localhost/*', enforce: gateway }] }").enforcement == nil)
    }

    @Test func allOfIt() throws {
        let policy = try self.policy(
            """
            { resources: [{ url: 'http://a.localhost/*', enforce: am }],
              enforce: { application: shop, realm: /Alpha, as: { user: u, password: p, tree: T },
                         environment: { a: b, c: [d, e] }, address: true, query: false, cache: 2s, concurrency: 3 } }
            """)
        var wanted = Enforcement()
        wanted.application = "shop"
        wanted.realm = "/alpha"
        wanted.caller = .login(AgentLogin(user: "u", password: "p", tree: "T"))
        wanted.environment = [.init("a", ["b"]), .init("c", ["d", "e"])]
        wanted.tellsAddress = true
        wanted.includesQuery = false
        wanted.maxAge = 2000
        wanted.concurrency = 3
        #expect(policy.enforcement == wanted)
    }

    @Test func aSession() throws {
        let policy = try self.policy(
            "{ resources: [{ url: 'http://a.localhost/*', enforce: am }], enforce: { application: shop, as: { session: 'A*x' } } }"
        )
        #expect(policy.enforcement?.caller == .session("A*x"))
    }

    @Test func translations() throws {
        let policy = try self.policy(
            """
            { translate: json,
              resources: ['http://a.localhost/*', { url: 'http://b.localhost/*', translate: header },
                          { url: 'http://c.localhost/*', translate: none }, { url: 'http://d.localhost/*', translate: redirect }] }
            """)
        #expect(policy.resources.map(\.translation) == [.body, .header, nil, .redirect])
    }
}
