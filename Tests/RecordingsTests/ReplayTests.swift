import Formats
import Journal
import Testing

@testable import Recordings

/// What a stand-in answers.
struct ReplayTests {
    @Test("A journey gets new values that hang together")
    func journey() throws {
        var app = try App()
        let session = try app.logIn()
        #expect(session.hasSuffix(".*AAJTSQACMDE.*"))
        let authorize =
            "/am/oauth2/authorize?client_id=app&state=s%201&nonce=n-1&redirect_uri=https%3A%2F%2Fapp.test%2F"
        let redirect = try app.send("GET", authorize, "", [("Cookie", "lang=de; sid=\(session)")])
        let location = try #require(redirect.message.value("Location"))
        #expect(location.contains("state=s%201&"))
        let code = try #require(location.firstMatch(of: /code=([^&]+)/)?.1)
        let tokens = try app.post("/am/oauth2/access_token", "client_id=app&code=\(code)&code_verifier=v")
        let access = try #require(tokens["access_token"]?.text)
        let claims = try #require(tokens["id_token"]?.text.flatMap { Self.claims($0) })
        #expect(claims["nonce"]?.text == "n-1")
        #expect(claims["aud"]?.text == "app")
        #expect(claims["sub"]?.text == "demo")
        #expect(claims["iss"]?.text == "https://am.example.com/am", "the recorded issuer")
        #expect(claims["exp"]?.integer == app.now + 3600)
        let user = try app.send("GET", "/am/oauth2/userinfo", "", [("Authorization", "Bearer \(access)")])
        #expect(user.name == "007")
        #expect(try app.send("GET", "/am/oauth2/userinfo").status == 401)
    }

    private static func claims(_ token: String) -> JSONValue? {
        let parts = token.split(separator: ".")
        guard parts.count == 3, let bytes = Base64.decode(parts[1]) else { return nil }
        return try? JSONValue(parsing: bytes)
    }

    @Test("A second walk begins at the beginning, with other values")
    func secondWalk() throws {
        var app = try App()
        let (first, second) = (try app.logIn(), try app.logIn())
        #expect(first != second && !first.isEmpty && !second.isEmpty)
    }

    @Test("The same request gets the next answer, and the last one repeats")
    func polling() throws {
        let poll = { Samples.exchange($0, "GET", "/poll", "", 200, "{\"step\":\"\($0)\"}") }
        var app = try App(Recording(name: "poll", recorded: 0, exchanges: [poll("1"), poll("2")]))
        let names = try (0..<4).map { _ in try app.send("GET", "/poll").name }
        #expect(names == ["1", "2", "2", "2"])
    }

    @Test("Walks of several apps at once do not disturb each other")
    func interleaved() throws {
        let recording = Recording(name: "one", recorded: 0, exchanges: Array(Samples.login.exchanges[2...3]))
        var app = try App(recording)
        let ids = try (0..<3).map { _ in try #require(try app.post("/am/json/authenticate")["authId"]?.text) }
        let sessions = try ids.map { id in
            try app.post("/am/json/authenticate", #"{"authId":"\#(id)","password":"p\#(id)"}"#)["tokenId"]?.text
        }
        #expect(Set(ids).count == 3 && Set(sessions).count == 3)
    }

    @Test("In strict mode, a value that the replay did not give out is refused, and the nearest exchange named")
    func foreignValue() throws {
        var app = try App()
        _ = try app.logIn()
        let miss = #expect(throws: Replay.Miss.self) {
            try app.send("POST", "/am/oauth2/access_token", "client_id=other&code=x&code_verifier=v")
        }
        #expect(miss?.nearest == "006")
        #expect(miss?.differences.map(\.place).contains("form.client_id") == true)
    }

    @Test("In loose mode, secrets, credentials, ids and times do not count")
    func loose() throws {
        var app = try App(Samples.login, .loose)
        let tokens = try app.post("/am/oauth2/access_token", "client_id=app&code=x&code_verifier=v")
        #expect(tokens["access_token"]?.text?.isEmpty == false)
        #expect(try app.send("GET", "/am/oauth2/userinfo").name == "007")
    }

    @Test("Volatile places are not compared")
    func volatile() throws {
        var recording = Recording(
            name: "v", recorded: 0, exchanges: [Samples.exchange("1", "GET", "/a?t=1795000000000&b=1")])
        var app = try App(recording)
        #expect(throws: Replay.Miss.self) { try app.send("GET", "/a?t=1795000000001&b=1") }
        recording.volatile = ["query.t"]
        app = try App(recording)
        #expect(try app.send("GET", "/a?t=1795000000001&b=1").name == "1")
    }

    @Test("An app at another origin gets links to that origin, and later times")
    func moved() throws {
        var app = try App(Samples.login, .loose)
        app.origin = "http://127.0.0.1:5555"
        let user = try app.send("GET", "/am/oauth2/userinfo")
        let body = try JSONValue(parsing: user.message.body)
        #expect(body["link"]?.text == "http://127.0.0.1:5555/am/x")
        let time = try #require(body["updated"]?.text)
        #expect(time.hasSuffix(".5Z") && CalendarTime.seconds(ofInternet: time) == 1_795_000_000 + 5_000_000)
    }

    @Test("The test key and the metadata are there without a recording of them")
    func keys() throws {
        var app = try App()
        let keys = try JSONValue(parsing: app.send("GET", "/am/oauth2/connect/jwk_uri").message.body)
        #expect(keys["keys"]?[0]?["alg"]?.text == "ES256")
        let metadata = try JSONValue(
            parsing: app.send("GET", "/am/oauth2/.well-known/openid-configuration").message.body)
        #expect(metadata["jwks_uri"]?.text == "https://am.example.com/am/oauth2/connect/jwk_uri")
    }

    @Test("A recording passes against itself")
    func selfPlay() throws {
        let results = SelfPlay.run(Samples.login, key: try .init())
        #expect(results.compactMap(\.problem) == [])
        #expect(results.count == 8)
    }
}
