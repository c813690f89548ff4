import Formats
import Testing

@testable import Sandbox

/// SplitMix64: the same tokens in every run.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}

/// A server with a clock, and the calls that a client makes.
struct World {
    var server: SandboxServer
    var now = 1_800_000_000
    var host = "http://ig.localhost:8080"

    init(_ options: SandboxOptions = SandboxOptions()) {
        server = SandboxServer(options: options, generator: SeededGenerator(state: 7))
    }

    mutating func send(
        _ method: String, _ path: String, session: String? = nil, fields: [(name: String, value: String)] = [],
        body: String = ""
    ) throws -> SandboxResponse {
        var all = fields
        if let session { all.append(("Cookie", "other=1; iPlanetDirectoryPro=\(session)")) }
        return server.handle(try SandboxRequest(method, host + path, fields: all, body: body), now: now)
    }

    // MARK: authentication

    static let version: [(name: String, value: String)] = [("Accept-API-Version", "protocol=1.0,resource=2.1")]
    static let json: [(name: String, value: String)] = version + [("Content-Type", "application/json")]

    static func authenticatePath(_ realm: String = "/") -> String {
        "/am/json/realms/root" + (realm == "/" ? "" : "/realms" + realm) + "/authenticate"
    }

    /// Starts a journey.
    mutating func start(_ query: String = "", realm: String = "/", session: String? = nil) throws -> SandboxResponse {
        try send(
            "POST", Self.authenticatePath(realm) + (query.isEmpty ? "" : "?" + query), session: session,
            fields: Self.json)
    }

    /// Starts with an advice.
    mutating func begin(_ advice: CompositeAdvice, realm: String = "/", session: String?) throws -> SandboxResponse {
        let value = PercentCoding.encode(advice.xml)
        return try start("authIndexType=composite_advice&authIndexValue=\(value)", realm: realm, session: session)
    }

    /// Answers a step: names and passwords as given, choices by index; the rest of it goes back as it came.
    mutating func answer(
        _ step: SandboxResponse, name: String = "demo", password: String = "changeit", choice: Int = 0,
        realm: String = "/", session: String? = nil, version: String = "resource=2.1,protocol=1.0"
    ) throws -> SandboxResponse {
        var filled = try json(step)
        let callbacks = try #require(filled["callbacks"]?.items).map { callback in
            let value: JSONValue? =
                switch callback["type"]?.text {
                case "NameCallback": .string(name)
                case "PasswordCallback": .string(password)
                case "ChoiceCallback": .integer(choice)
                default: nil
                }
            var input = callback["input"]?[0] ?? .null
            input["value"] = value
            var changed = callback
            changed["input"] = .array([input])
            return changed
        }
        filled["callbacks"] = .array(callbacks)
        return try send(
            "POST", Self.authenticatePath(realm), session: session,
            fields: [("Accept-API-Version", version), ("Content-Type", "application/json")], body: filled.serialized)
    }

    /// A session of its own.
    mutating func signIn(
        _ name: String = "demo", password: String = "changeit", realm: String = "/"
    ) throws -> String {
        let done = try answer(try start(realm: realm), name: name, password: password, realm: realm)
        return try #require(try json(done)["tokenId"]?.text)
    }

    // MARK: the gateway

    static let asks: [(name: String, value: String)] = [("x-authenticate-response", "header")]

    mutating func access(
        _ path: String = "/shop/pay?amount=40", _ method: String = "GET", session: String?, id: String? = nil,
        body: String = ""
    ) throws -> SandboxResponse {
        let target = id.map { path + (path.contains("?") ? "&" : "?") + "_txid=\($0)" } ?? path
        return try send(method, target, session: session, fields: Self.asks, body: body)
    }

    /// The advice in a challenge.
    func advice(_ response: SandboxResponse) throws -> JSONValue {
        let challenge = try #require(response["WWW-Authenticate"])
        let value = try #require(challenge.split(separator: "\"").first { $0.hasPrefix("eyJ") })
        return try JSONValue(parsing: try #require(Base64.decode(value)))
    }

    func transaction(_ response: SandboxResponse) throws -> String {
        #expect(response.status == 401)
        return try #require(try advice(response)[CompositeAdvice.transaction]?[0]?.text)
    }

    /// Answers what a transaction asks.
    mutating func approve(
        _ id: String, session: String, name: String = "demo", realm: String = "/"
    ) throws -> SandboxResponse {
        let step = try begin(CompositeAdvice(CompositeAdvice.transaction, id), realm: realm, session: session)
        return try answer(step, name: name, realm: realm, session: session)
    }

    // MARK: reading

    func json(_ response: SandboxResponse) throws -> JSONValue { try JSONValue(parsing: response.body.content) }

    func errorCode(_ response: SandboxResponse) throws -> String? {
        try json(response)["detail"]?["errorCode"]?.text
    }
}
