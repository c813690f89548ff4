import Formats
import HTTPCodec
import Testing

@testable import Sandbox

@Suite struct OAuthTests {
    static let path = "/am/oauth2/realms/root"
    static let back = "http%3A%2F%2Fapp.localhost%2Fdone"
    // RFC 7636, appendix B
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    static let form: [(name: String, value: String)] = [("Content-Type", "application/x-www-form-urlencoded")]

    static func ask(_ more: String = "") -> String {
        "client_id=app&redirect_uri=\(back)&response_type=code&scope=openid%20profile&state=s%26t"
            + "&code_challenge=\(challenge)&code_challenge_method=S256" + more
    }

    func code(_ world: inout World, _ session: String, _ more: String = "") throws -> QueryText {
        let answer = try world.send("GET", "\(Self.path)/authorize?\(Self.ask(more))", session: session)
        #expect(answer.status == 302)
        let location = try #require(answer["Location"])
        #expect(location.hasPrefix("http://app.localhost/done?"))
        return QueryText(location.split(separator: "?", maxSplits: 1)[1])
    }

    func token(_ world: inout World, _ body: String, fields: [(name: String, value: String)] = []) throws
        -> SandboxResponse
    {
        try world.send("POST", "\(Self.path)/access_token", fields: Self.form + fields, body: body)
    }

    func redeem(_ code: String, _ verifier: String = Self.verifier) -> String {
        "grant_type=authorization_code&client_id=app&redirect_uri=\(Self.back)&code=\(code)&code_verifier=\(verifier)"
    }

    @Test func theCodeFlow() throws {
        var world = World()
        let session = try world.signIn("user6")
        let answer = try code(&world, session, "&nonce=n1")
        #expect(answer["state"] == "s&t")
        #expect(answer["client_id"] == "app")
        #expect(answer["iss"] == "http://am.localhost:8080/am/oauth2/realms/root")
        let granted = try token(&world, redeem(try #require(answer["code"])))
        #expect(granted.status == 200)
        let tokens = try world.json(granted)
        let access = try #require(tokens["access_token"]?.text)
        let info = try world.send("GET", "\(Self.path)/userinfo", fields: [("Authorization", "Bearer \(access)")])
        #expect(try world.json(info)["sub"]?.text == "user6")
        let hint = try #require(tokens["id_token"]?.text)
        let claims = try #require(hint.split(separator: ".").dropFirst().first.flatMap { Base64.decode($0) })
        #expect(try JSONValue(parsing: claims)["nonce"]?.text == "n1")
        #expect(try world.send("GET", "\(Self.path)/connect/endSession?id_token_hint=\(hint)").status == 204)
        #expect(try world.access(session: session).status == 302)
    }

    @Test func aCodeIsGoodOnce() throws {
        var world = World()
        let session = try world.signIn()
        let first = try #require(try code(&world, session)["code"])
        #expect(try token(&world, redeem(first)).status == 200)
        #expect(try world.json(try token(&world, redeem(first)))["error"]?.text == "invalid_grant")
        let second = try #require(try code(&world, session)["code"])
        #expect(try token(&world, redeem(second, "wrong")).status == 400)
        #expect(try token(&world, redeem(second)).status == 400)
    }

    @Test func aCodeBelongsToItsClient() throws {
        var world = World()
        let session = try world.signIn()
        let first = try #require(try code(&world, session)["code"])
        let body = redeem(first).replacing("client_id=app", with: "client_id=service&client_secret=changeit")
        #expect(try world.json(try token(&world, body))["error"]?.text == "invalid_grant")
    }

    /// RFC 6749 §4.1.3: the place that the code was sent to is the one that it is redeemed for.
    @Test(arguments: ["http%3A%2F%2Fapp.localhost%2Fother", "http%3A%2F%2Fevil.localhost%2Fdone", ""])
    func aCodeBelongsToItsRedirect(_ place: String) throws {
        var world = World()
        let session = try world.signIn()
        let first = try #require(try code(&world, session)["code"])
        let answer = try token(&world, redeem(first).replacing(Self.back, with: place))
        #expect(answer.status == 400)
        #expect(try world.json(answer)["error"]?.text == "invalid_grant")
        let missing = redeem(try #require(try code(&world, session)["code"]))
            .replacing("&redirect_uri=\(Self.back)", with: "")
        #expect(try token(&world, missing).status == 400)
    }

    @Test func refreshAndRevoke() throws {
        var world = World()
        let session = try world.signIn()
        let first = try world.json(try token(&world, redeem(try #require(try code(&world, session)["code"]))))
        let old = try #require(first["refresh_token"]?.text)
        let refresh = "grant_type=refresh_token&client_id=app&refresh_token="
        let second = try world.json(try token(&world, refresh + old))
        let access = try #require(second["access_token"]?.text)
        let newest = try #require(second["refresh_token"]?.text)
        let revoke = "\(Self.path)/token/revoke"
        #expect(try world.send("POST", revoke, fields: Self.form, body: "client_id=app").status == 400)
        let unknown = try world.send("POST", revoke, fields: Self.form, body: "client_id=app&token=unknown")
        #expect(unknown.status == 200)
        #expect(try world.json(unknown) == .object([]))
        // another client's revocation does nothing
        let foreign = "client_id=service&client_secret=changeit&token=\(newest)"
        #expect(try world.send("POST", revoke, fields: Self.form, body: foreign).status == 200)
        #expect(try userInfo(&world, access) == 200)
        #expect(try world.send("POST", revoke, fields: Self.form, body: "client_id=app&token=\(newest)").status == 200)
        #expect(try userInfo(&world, access) == 401)
        #expect(try token(&world, refresh + newest).status == 400)
    }

    func userInfo(_ world: inout World, _ token: String) throws -> Int {
        try world.send("GET", "\(Self.path)/userinfo", fields: [("Authorization", "Bearer \(token)")]).status
    }

    @Test func aMissingTokenIsNoAdvice() throws {
        var world = World()
        let answer = try world.send("GET", "\(Self.path)/userinfo")
        #expect(answer.status == 401)
        #expect(answer["WWW-Authenticate"]?.hasPrefix("Bearer ") == true)
    }

    @Test func clientCredentials() throws {
        var world = World()
        let basic: [(name: String, value: String)] = [
            ("Authorization", "Basic " + Base64.encode(Array("service:changeit".utf8)))
        ]
        let good = try token(&world, "grant_type=client_credentials&scope=a", fields: basic)
        #expect(good.status == 200)
        #expect(try world.json(good)["refresh_token"] == nil)
        #expect(try token(&world, "grant_type=client_credentials&client_id=app").status == 400)
        let wrong: [(name: String, value: String)] = [
            ("Authorization", "Basic " + Base64.encode(Array("service:x".utf8)))
        ]
        #expect(try token(&world, "grant_type=client_credentials", fields: wrong).status == 401)
        let other = try token(&world, "grant_type=password&client_id=app")
        #expect(try world.json(other)["error"]?.text == "unsupported_grant_type")
    }

    @Test func authorizeFaults() throws {
        var world = World()
        let path = "\(Self.path)/authorize?"
        let session = try world.signIn()
        #expect(try world.send("GET", path + "client_id=nope&redirect_uri=\(Self.back)").status == 400)
        #expect(try world.send("GET", path + "client_id=app&redirect_uri=a%0D%0Ab%3A", session: session).status == 400)
        #expect(
            try world.send("GET", path + Self.ask())["Location"]?.hasPrefix("http://am.localhost:8080/am/?goto=")
                == true)
        let silent = try #require(try world.send("GET", path + Self.ask("&prompt=none"))["Location"])
        #expect(silent.contains("?error=login_required&"))
        let type = try #require(
            try world.send(
                "GET", path + "client_id=app&redirect_uri=\(Self.back)&response_type=token", session: session)[
                    "Location"])
        #expect(type.contains("error=unsupported_response_type"))
    }

    @Test func postedConsentNeedsTheRightProof() throws {
        var world = World()
        let session = try world.signIn()
        func consent(_ csrf: String, _ decision: String = "allow") throws -> SandboxResponse {
            try world.send(
                "POST", "\(Self.path)/authorize", session: session, fields: Self.form,
                body: Self.ask("&decision=\(decision)&csrf=\(PercentCoding.encode(csrf))"))
        }
        #expect(try consent("wrong").status == 400)
        #expect(try consent(session)["Location"]?.contains("code=") == true)
        #expect(try consent(session, "deny")["Location"]?.contains("error=access_denied") == true)
    }

    @Test func endSessionNeedsAHint() throws {
        var world = World()
        #expect(try world.send("GET", "\(Self.path)/connect/endSession").status == 400)
        #expect(try world.send("GET", "\(Self.path)/connect/endSession?id_token_hint=a.b.c").status == 400)
    }

    @Test func discoveryIsPerRealm() throws {
        var world = World()
        let path = "/am/oauth2/realms/root/realms/alpha/.well-known/openid-configuration"
        let document = try world.json(try world.send("GET", path))
        #expect(document["issuer"]?.text == "http://am.localhost:8080/am/oauth2/realms/root/realms/alpha")
        #expect(try world.send("GET", "/am/oauth2/realms/root/realms/beta/userinfo").status == 404)
    }
}

@Suite struct SigningTests {
    @Test func aSignedTokenIsReadWithItsKeyOnly() {
        let claims: JSONValue = ["a": 1]
        let token = SignedToken.encode(claims, key: [1])
        #expect(SignedToken.decode(token, key: [1]) == claims)
        #expect(SignedToken.decode(token, key: [2]) == nil)
        #expect(SignedToken.decode("a.b", key: [1]) == nil)
    }

    @Test func datesAreRight() {
        #expect(CalendarTime(0).internet == "1970-01-01T00:00:00Z")
        #expect(CalendarTime(951_782_399).internet == "2000-02-28T23:59:59Z")
        #expect(CalendarTime(951_782_400).internet == "2000-02-29T00:00:00Z")
        #expect(CalendarTime(1_798_761_599).internet == "2026-12-31T23:59:59Z")
        // RFC 9110 §5.6.7
        #expect(CalendarTime(784_111_777).http == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test func uuidsAreOfVersionFour() {
        var tokens = TokenSource(SeededGenerator(state: 1))
        let ids = (0..<1000).map { _ in tokens.uuid() }
        #expect(Set(ids).count == 1000)
        for id in ids {
            #expect(id.utf8.count == 36)
            #expect(Array(id.utf8)[14] == 0x34)
            #expect("89ab".utf8.contains(Array(id.utf8)[19]))
        }
    }

    @Test func anExpiringTableForgetsTheOldest() {
        var table = ExpiringTable<Int>(lifetime: 10, capacity: 3)
        for number in 0..<5 { table.insert(number, id: "\(number)", now: number) }
        #expect(table.value("0", now: 4) == nil)
        #expect(table.value("1", now: 4) == nil)
        #expect(table.value("4", now: 4) == 4)
        #expect(table.value("4", now: 14) == nil)
    }
}
