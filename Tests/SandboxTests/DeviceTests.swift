import Formats
import HTTPCodec
import Testing

@testable import Sandbox

/// The sandbox as the other side of a second device.
@Suite("Second devices")
struct DeviceTests {
    private var world = World()

    /// The URI that a page shows to programs.
    private func uri(_ step: SandboxResponse) throws -> String {
        let callbacks = try #require(try world.json(step)["callbacks"]?.items)
        let hidden = try #require(callbacks.first { $0["type"]?.text == "HiddenValueCallback" })
        return try #require(hidden["output"]?[0]?["value"]?.text)
    }

    private func query(_ uri: String) -> QueryText { QueryText(uri.drop { $0 != "?" }.dropFirst()) }

    /// Sends a step back as it came.
    private mutating func poll(_ step: SandboxResponse, session: String) throws -> SandboxResponse {
        try world.send(
            "POST", World.authenticatePath(), session: session, fields: World.json,
            body: try world.json(step).serialized)
    }

    private mutating func say(
        _ action: String, _ id: String, _ claims: JSONValue, key: [UInt8]
    ) throws -> Int {
        let token = SignedToken.encode(claims, key: key)
        let body: JSONValue = ["messageId": .string(id), "jwt": .string(token)]
        return try world.send(
            "POST", "/am/json/realms/root/push/sns/message?_action=\(action)",
            fields: [("Content-Type", "application/json"), ("Accept-API-Version", "resource=1.0, protocol=1.0")],
            body: body.serialized
        ).status
    }

    @Test(arguments: ["OathDevice", "OathCounter"])
    mutating func codesOfADevice(_ tree: String) throws {
        let session = try world.signIn()
        let first = try world.begin(tree: tree, session: session)
        let secret = try #require(query(try uri(first))["secret"].flatMap { Base32.decode($0) })
        var counter = tree == "OathDevice" ? world.now / 30 : 0
        let asked = try world.reply(first, [[], [], [.string("x")], [.integer(0)]], session: session)
        #expect(try world.types(asked) == ["NameCallback", "ConfirmationCallback"])
        let code = OneTimePassword.code(secret, counter: counter)
        let done = try world.reply(asked, [[.string(code)], [.integer(0)]], session: session)
        #expect(try world.isSuccess(done))
        let again = try #require(try world.json(done)["tokenId"]?.text)
        // it is registered: the code alone is asked for, and none counts twice
        let next = try world.begin(tree: tree, session: again)
        #expect(try world.types(next) == ["NameCallback", "ConfirmationCallback"])
        #expect(try world.reply(next, [[.string(code)], [.integer(0)]], session: again).status == 401)
        counter += 1
        world.now += 30
        let last = try world.begin(tree: tree, session: again)
        let fresh = OneTimePassword.code(secret, counter: counter)
        #expect(try world.isSuccess(try world.reply(last, [[.string(fresh)], [.integer(0)]], session: again)))
    }

    /// Registers a device; the step that waits for the answer to a push, the session and the device's secret.
    private mutating func registered(
        _ tree: String
    ) throws -> (step: SandboxResponse, session: String, secret: [UInt8]) {
        let session = try world.signIn()
        let first = try world.begin(tree: tree, session: session)
        let query = query(try uri(first))
        let id = try #require(query["m"])
        let secret = try #require(query["s"].flatMap { Base64.decode($0) })
        let challenge = try #require(query["c"].flatMap { Base64.decode($0) })
        let response = Base64.encode(Signature.code(challenge, key: secret))
        let claims: JSONValue = [
            "response": .string(response), "mechanismUid": .string("M1"), "deviceId": .string("d"),
            "communicationType": .string("gcm"),
        ]
        #expect(try say("register", id, claims, key: [1, 2, 3]) == 400)
        #expect(try say("authenticate", id, claims, key: secret) == 400)
        #expect(try say("register", "REGISTER:other", claims, key: secret) == 400)
        let waits = try poll(first, session: session)
        #expect(try world.types(waits).contains("PollingWaitCallback"))
        #expect(try say("register", id, claims, key: secret) == 200)
        #expect(try say("register", id, claims, key: secret) == 400)
        return (try poll(waits, session: session), session, secret)
    }

    /// The push that was sent with a step.
    private func push(_ step: SandboxResponse, _ secret: [UInt8]) throws -> (
        id: String, claims: JSONValue, response: String
    ) {
        let last = try #require(step.pushes.last)
        let sent = try JSONValue(parsing: last)
        let token = try #require(sent["message"]?.text)
        let claims = try #require(SignedToken.decode(token, key: secret))
        #expect(claims["u"]?.text == "M1")
        let challenge = try #require(claims["c"]?.text.flatMap { Base64.decode($0) })
        return (
            try #require(sent["messageId"]?.text), claims,
            Base64.encode(Signature.code(challenge, key: secret))
        )
    }

    @Test mutating func aPushIsApproved() throws {
        let (step, session, secret) = try registered("PushDevice")
        let push = try push(step, secret)
        let waits = try poll(step, session: session)
        #expect(try world.types(waits) == ["PollingWaitCallback", "ConfirmationCallback"])
        #expect(try say("authenticate", push.id, ["response": .string("wrong")], key: secret) == 400)
        #expect(try say("authenticate", push.id, ["response": .string(push.response)], key: secret) == 200)
        #expect(try world.isSuccess(try poll(waits, session: session)))
    }

    @Test mutating func aPushIsDenied() throws {
        let (step, session, secret) = try registered("PushDevice")
        let push = try push(step, secret)
        let claims: JSONValue = ["response": .string(push.response), "deny": .bool(true)]
        #expect(try say("authenticate", push.id, claims, key: secret) == 200)
        #expect(try poll(step, session: session).status == 401)
    }

    @Test(arguments: [true, false])
    mutating func aNumberIsChosen(_ isRight: Bool) throws {
        let (step, session, secret) = try registered("PushNumber")
        let push = try push(step, secret)
        let shown = try uri(step)
        let numbers = try #require(push.claims["n"]?.text).split(separator: ",").map(String.init)
        #expect(push.claims["k"]?.text == "challenge" && numbers.count == 3 && numbers.contains(shown))
        let number = try #require(isRight ? shown : numbers.first { $0 != shown })
        let claims: JSONValue = [
            "response": .string(push.response), "challengeResponse": .string(number),
        ]
        #expect(try say("authenticate", push.id, claims, key: secret) == (isRight ? 200 : 400))
        #expect(try poll(step, session: session).status == (isRight ? 200 : 401))
    }
}
