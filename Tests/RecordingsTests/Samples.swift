import Formats
import Journal
import TLSEngine

@testable import Recordings

/// A login with a wrong and a right password, and a token.
enum Samples {
    static let am = "https://am.example.com"
    private static let json = [(name: "Content-Type", value: "application/json")]

    static func exchange(
        _ name: String, _ method: String, _ path: String, _ request: String = "", _ status: Int = 200,
        _ response: String = "{}", sent: [(name: String, value: String)] = json,
        fields: [(name: String, value: String)] = json
    ) -> RecordedExchange {
        RecordedExchange(
            name: name, at: 1_795_000_000, method: method, url: am + path,
            request: RecordedMessage(fields: sent, body: Array(request.utf8)), status: status,
            response: RecordedMessage(fields: fields, body: Array(response.utf8)))
    }

    private static let form = [(name: "Content-Type", value: "application/x-www-form-urlencoded")]

    static let login = Recording(
        name: "login", recorded: 1_795_000_100,
        exchanges: [
            exchange("001", "POST", "/am/json/authenticate", "", 200, #"{"authId":"authId#1"}"#),
            exchange(
                "002", "POST", "/am/json/authenticate", #"{"authId":"authId#1","password":"password#1"}"#, 401,
                #"{"message":"no"}"#),
            exchange("003", "POST", "/am/json/authenticate", "", 200, #"{"authId":"authId#2"}"#),
            exchange(
                "004", "POST", "/am/json/authenticate", #"{"authId":"authId#2","password":"password#2"}"#, 200,
                #"{"tokenId":"session#1"}"#, fields: json + [("Set-Cookie", "sid=session#1; Path=/")]),
            exchange(
                "005", "GET",
                "/am/oauth2/authorize?client_id=app&state=code#1&nonce=code#2&redirect_uri=https%3A%2F%2Fapp.test%2F",
                "", 302, "", sent: [("Cookie", "sid=session#1")],
                fields: [
                    ("Location", "https://app.test/?code=code#3&state=code#1&iss=https%3A%2F%2Fam.example.com%2Fam")
                ]),
            exchange(
                "006", "POST", "/am/oauth2/access_token", "client_id=app&code=code#3&code_verifier=code#4", 200,
                #"{"access_token":"token#1","id_token":"token#2","expires_in":3600}"#, sent: form),
            exchange(
                "007", "GET", "/am/oauth2/userinfo", "", 200,
                #"{"sub":"demo","updated":"2026-11-18T11:06:40.5Z","link":"https://am.example.com/am/x"}"#,
                sent: [("Authorization", "Bearer token#1")]),
            exchange("008", "GET", "/am/oauth2/userinfo", "", 401, #"{"error":"invalid_token"}"#, sent: []),
        ])
}

/// An app that talks to a replay.
struct App {
    var replay: Replay
    var origin = Samples.am
    var now = 1_800_000_000

    init(_ recording: Recording = Samples.login, _ mode: ReplayMode = .strict) throws {
        replay = Replay(recording, mode, key: try TestKey())
    }

    mutating func send(
        _ method: String, _ path: String, _ body: String = "", _ fields: [(name: String, value: String)] = []
    ) throws -> Replay.Answer {
        let type = body.hasPrefix("{") || body.isEmpty ? "application/json" : "application/x-www-form-urlencoded"
        return try replay.answer(
            .init(
                method: method, url: origin + path,
                message: RecordedMessage(fields: fields + [("Content-Type", type)], body: Array(body.utf8))),
            now: now)
    }

    mutating func post(_ path: String, _ body: String = "") throws -> JSONValue {
        try JSONValue(parsing: send("POST", path, body).message.body)
    }

    /// Logs in as recorded after a wrong password, and gives the session.
    mutating func logIn() throws -> String {
        let first = try post("/am/json/authenticate")["authId"]?.text ?? ""
        _ = try send("POST", "/am/json/authenticate", #"{"authId":"\#(first)","password":"wrong"}"#)
        let second = try post("/am/json/authenticate")["authId"]?.text ?? ""
        let done = try post("/am/json/authenticate", #"{"authId":"\#(second)","password":"right"}"#)
        return done["tokenId"]?.text ?? ""
    }
}
