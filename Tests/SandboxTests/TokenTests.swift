import Formats
import HTTPCodec
import Testing

@testable import Sandbox

/// Tokens after they were given out: where they count, how they end.
@Suite struct TokenTests {
    /// Tokens of `demo`, for scope `openid api`.
    func tokens(_ world: inout World, realm: String = "") throws -> JSONValue {
        let session = try world.signIn(realm: realm.isEmpty ? "/" : "/alpha")
        let path = OAuthTests.path + realm
        let asked = OAuthTests.ask().replacing("openid%20profile", with: "openid%20api")
        let answer = try world.send("GET", "\(path)/authorize?\(asked)", session: session)
        let location = try #require(answer["Location"])
        let code = try #require(QueryText(location.split(separator: "?", maxSplits: 1)[1])["code"])
        let granted = try world.send(
            "POST", "\(path)/access_token", fields: OAuthTests.form, body: OAuthTests().redeem(code))
        #expect(granted.status == 200)
        return try world.json(granted)
    }

    func api(_ world: inout World, _ token: String?, _ path: String = "/api/x") throws -> SandboxResponse {
        try world.send("GET", path, fields: token.map { [("Authorization", "Bearer \($0)")] } ?? [])
    }

    @Test func aResourceWantsALivingToken() throws {
        var options = SandboxOptions()
        options.lives.accessToken = 5
        var world = World(options)
        #expect(try api(&world, nil)["WWW-Authenticate"] == "Bearer realm=\"/\"")
        let granted = try tokens(&world)
        #expect(granted["expires_in"] == .integer(5))
        let access = try #require(granted["access_token"]?.text)
        let echo = try world.json(try api(&world, access))
        #expect(echo["user"]?.text == "demo")
        #expect(echo["client"]?.text == "app")
        world.now += 5
        let late = try api(&world, access)
        #expect(late.status == 401)
        #expect(late["WWW-Authenticate"]?.hasPrefix("Bearer realm=\"/\",error=\"invalid_token\",") == true)
    }

    @Test func aTokenOfOneTypeIsNoneOfTheOther() throws {
        var world = World()
        let access = try #require(try tokens(&world)["access_token"]?.text)
        let other = try world.send("GET", "/api/x", fields: [("Authorization", "DPoP \(access)")])
        #expect(other.status == 401)
        #expect(other["WWW-Authenticate"]?.hasPrefix("Bearer realm=\"/\",error=\"invalid_token\",") == true)
        #expect(try api(&world, access).status == 200)
    }

    @Test func aTokenMayEndWhenItIsShown() throws {
        var world = World()
        let granted = try tokens(&world)
        let access = try #require(granted["access_token"]?.text)
        let refresh = try #require(granted["refresh_token"]?.text)
        #expect(try api(&world, access).status == 200)
        let late = try api(&world, access, "/api/x?_fault=expired-token")
        #expect(late["WWW-Authenticate"]?.contains("error=\"invalid_token\"") == true)
        #expect(try api(&world, access).status == 401)
        let fresh = try world.send(
            "POST", "\(OAuthTests.path)/access_token", fields: OAuthTests.form,
            body: "grant_type=refresh_token&client_id=app&refresh_token=\(refresh)")
        let newest = try #require(try world.json(fresh)["access_token"]?.text)
        #expect(try api(&world, newest, "/api/x?_fault=expired-token").status == 200)
    }

    @Test func scopesAndRealms() throws {
        var world = World()
        let access = try #require(try tokens(&world)["access_token"]?.text)
        #expect(try api(&world, access, "/api/scope/api/x").status == 200)
        let narrow = try api(&world, access, "/api/scope/admin/x")
        #expect(narrow.status == 403)
        #expect(narrow["WWW-Authenticate"]?.contains("error=\"insufficient_scope\",scope=\"admin\"") == true)
        #expect(try api(&world, access, "/api/realm/alpha/x").status == 401)
        let other = try #require(try tokens(&world, realm: "/realms/alpha")["access_token"]?.text)
        #expect(try api(&world, other, "/api/realm/alpha/x").status == 200)
    }

    @Test func aRefreshTokenThatComesTwiceEndsThemAll() throws {
        var world = World()
        let first = try #require(try tokens(&world)["refresh_token"]?.text)
        func refresh(_ token: String) throws -> SandboxResponse {
            try world.send(
                "POST", "\(OAuthTests.path)/access_token", fields: OAuthTests.form,
                body: "grant_type=refresh_token&client_id=app&refresh_token=\(token)")
        }
        let second = try world.json(try refresh(first))
        let access = try #require(second["access_token"]?.text)
        let newest = try #require(second["refresh_token"]?.text)
        #expect(try api(&world, access).status == 200)
        #expect(try world.json(try refresh(first))["error"]?.text == "invalid_grant")
        #expect(try api(&world, access).status == 401)
        #expect(try refresh(newest).status == 400)
        #expect(world.server.am.oauth.grants.tally.reused == 1)
    }

    @Test func aCodeThatComesTwiceEndsWhatCameOfIt() throws {
        var world = World()
        let session = try world.signIn()
        let answer = try world.send("GET", "\(OAuthTests.path)/authorize?\(OAuthTests.ask())", session: session)
        let location = try #require(answer["Location"])
        let code = try #require(QueryText(location.split(separator: "?", maxSplits: 1)[1])["code"])
        func redeem() throws -> SandboxResponse {
            try world.send(
                "POST", "\(OAuthTests.path)/access_token", fields: OAuthTests.form, body: OAuthTests().redeem(code))
        }
        let access = try #require(try world.json(try redeem())["access_token"]?.text)
        #expect(try redeem().status == 400)
        #expect(try api(&world, access).status == 401)
    }

    @Test func introspection() throws {
        var world = World()
        let granted = try tokens(&world)
        let path = "\(OAuthTests.path)/introspect"
        func ask(_ token: String, _ client: String = "service:changeit") throws -> SandboxResponse {
            try world.send(
                "POST", path,
                fields: OAuthTests.form + [("Authorization", "Basic " + Base64.encode(Array(client.utf8)))],
                body: "token=\(token)")
        }
        let access = try world.json(try ask(try #require(granted["access_token"]?.text)))
        #expect(access["active"] == .bool(true))
        #expect(access["username"]?.text == "demo")
        #expect(access["exp"] == .integer(world.now + 3600))
        let refresh = try world.json(try ask(try #require(granted["refresh_token"]?.text)))
        #expect(refresh["token_type"]?.text == "refresh_token")
        #expect(try world.json(try ask("made-up")) == ["active": false])
        #expect(try ask("x", "service:wrong").status == 401)
        #expect(try world.send("POST", path, fields: OAuthTests.form, body: "token=x&client_id=app").status == 401)
    }

    @Test(arguments: [
        ("code_challenge_method=S256", "code_challenge_method=plain"), ("&code_challenge_method=S256", ""),
        ("&code_challenge=\(OAuthTests.challenge)", ""),
    ])
    func aPublicClientProvesItselfByAHash(_ part: String, _ instead: String) throws {
        var world = World()
        let session = try world.signIn()
        let asked = OAuthTests.ask().replacing(part, with: instead)
        let answer = try world.send("GET", "\(OAuthTests.path)/authorize?\(asked)", session: session)
        #expect(answer["Location"]?.contains("error=invalid_request&") == true)
    }

    @Test(arguments: [
        ("https://evil.example/cb", false), ("http://app.localhost:8080/cb", true), ("http://127.0.0.1:1/cb", true),
        ("com.example.app:/cb", true), ("javascript:alert", false), ("https://known.example/cb", true),
        ("https://known.example/cb/x", false), ("http://localhost.evil.example/", false),
    ])
    func codesAreSentToWhereTheClientIs(_ place: String, _ isTaken: Bool) throws {
        var options = SandboxOptions()
        options.redirectURIs = ["https://known.example/cb"]
        var world = World(options)
        let session = try world.signIn()
        let asked = OAuthTests.ask().replacing(OAuthTests.back, with: PercentCoding.encode(place))
        let answer = try world.send("GET", "\(OAuthTests.path)/authorize?\(asked)", session: session)
        #expect(answer.status == (isTaken ? 302 : 400))
        #expect((answer["Location"] != nil) == isTaken)
    }

    @Test func consentMayBeAskedFor() throws {
        var options = SandboxOptions()
        options.asksConsent = true
        var world = World(options)
        let session = try world.signIn()
        let path = "\(OAuthTests.path)/authorize"
        let page = try world.send("GET", "\(path)?\(OAuthTests.ask())", session: session)
        #expect(page.status == 200)
        let text = String(decoding: page.body.content, as: UTF8.self)
        #expect(text.contains("name=\"state\" value=\"s&amp;t\""))
        #expect(text.contains("name=\"csrf\""))
        let silent = try world.send("GET", "\(path)?\(OAuthTests.ask("&prompt=none"))", session: session)
        #expect(silent["Location"]?.contains("error=consent_required") == true)
        let given = try world.send(
            "POST", path, session: session, fields: OAuthTests.form,
            body: OAuthTests.ask("&decision=allow&csrf=\(PercentCoding.encode(session))"))
        #expect(given["Location"]?.contains("code=") == true)
    }
}
