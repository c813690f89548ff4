import Formats
import HTTPCodec
import Interception
import Testing

@testable import Authorization

/// What a device reads and writes, byte for byte.
@Suite("Devices on the wire")
struct DeviceMessageTests {
    static let secret = (0..<32).map { UInt8($0) }
    static let challenge = (100..<132).map { UInt8($0) }
    static let base = "https://am.example.com/am/json/realms/root/realms/alpha/push/sns/message?_action="
    static let server = AuthorizationServer(
        url: "https://am.example.com/am", host: "am.example.com", realms: ["/alpha"])

    static func pushURI(register: String = base + "register", answer: String = base + "authenticate") -> String {
        func coded(_ text: String) -> String { Base64.encode(Array(text.utf8), urlSafe: true) }
        return "pushauth://push/Example:bob?l=\(coded("amlbcookie=01"))&issuer=\(coded("Example"))&m=REGISTER:1"
            + "&s=\(Base64.encode(secret, urlSafe: true))&c=\(Base64.encode(challenge, urlSafe: true))"
            + "&r=\(coded(register))&a=\(coded(answer))&b=032b75"
    }

    static func step(_ uri: String) -> JSONValue {
        [
            "callbacks": [
                [
                    "type": "HiddenValueCallback",
                    "output": [
                        ["name": "value", "value": .string(uri)], ["name": "id", "value": "mfaDeviceRegistration"],
                    ],
                ]
            ]
        ]
    }

    static func kept(_ mechanism: String = "M1", user: String = "bob", registered: Int = 0) -> KeptDevice {
        let registration = DeviceRegistration(kind: .oath(uri: ""), issuer: "Example", account: "bob")
        let place = KeptDevice.Place(server: server.url, realm: "/alpha", user: user)
        return KeptDevice(
            place, device: "phone", registration, registered: registered,
            factor: .push(.init(mechanism: mechanism, secret: secret, url: base + "authenticate")))
    }

    /// As AM's push service delivers it.
    static let push =
        "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJjIjoiWkdWbVoyaHBhbXRzYlc1dmNIRnljM1IxZG5kNGVYcDdmSDErZjRDQmdvTT0iLCJ1IjoiTTEiLCJ0IjoiNjAiLCJpIjoiMTcwMDAwMDAwMDAwMCIsIm0iOiJMb2dpbiIsImsiOiJjaGFsbGVuZ2UiLCJuIjoiMzQsIDQzLDU3IiwibCI6IllXMXNZbU52YjJ0cFpUMHdNUT09In0.5ErDfbVB5rXKDP1PqR1vH8TLwzjmErCMyuTlxvA4Vp0"

    /// Pushes that differ in nothing but the message for the user.
    static func token(
        _ number: Int, of kept: KeptDevice = kept(), issued: Int? = nil, numbers: String? = nil
    ) -> String {
        var claims: [JSONValue.Member] = [
            .init("c", .string(Base64.encode(challenge))), .init("u", .string(kept.push?.mechanism ?? "")),
            .init("t", .string("60")),
            .init("m", .string("Login \(number)")),
        ]
        if let numbers { claims += [.init("k", .string("challenge")), .init("n", .string(numbers))] }
        if let issued { claims.append(.init("i", .string(String(issued * 1000)))) }
        return SignedClaims.sign(.object(claims), key: secret) ?? ""
    }

    static func device(_ kept: KeptDevice = kept()) -> (String) -> KeptDevice? {
        { $0 == kept.push?.mechanism ? kept : nil }
    }

    static let now = 1_700_000_000

    static func delivered(
        _ token: String = push, id: String = "AUTHENTICATE:1", at now: Int = now, to kept: KeptDevice = kept()
    ) throws -> PushMessage {
        try PushMessage(
            delivered: Array("{\"messageId\":\"\(id)\",\"message\":\"\(token)\"}".utf8), at: now, to: device(kept))
    }

    // MARK: registrations

    @Test func aPushRegistrationIsRead() throws {
        let found = try #require(DeviceRegistration.find(in: Self.step(Self.pushURI())).first)
        #expect(found.issuer == "Example" && found.account == "bob")
        guard case .push(let push) = found.kind else { return #expect(Bool(false)) }
        #expect(push.registerURL == Self.base + "register" && push.answerURL == Self.base + "authenticate")
        #expect(push.secret == Self.secret && push.challenge == Self.challenge)
        #expect(push.messageID == "REGISTER:1" && push.affinity == "amlbcookie=01")
    }

    @Test func theScriptThatDrawsTheCodeTellsTheSame() {
        let script =
            "window.QRCodeReader.createCode({ id: 'callback_0', text: 'otpauth\\x3A\\x2F\\x2Ftotp\\u002FExample\\x3Abob%20b\\x3Fperiod\\x3D30\\x26secret\\x3DGEZDGNBV', version: '20' });"
        let callback: JSONValue = [
            "type": "TextOutputCallback", "output": [["name": "message", "value": .string(script)]],
        ]
        let found = DeviceRegistration.find(in: ["callbacks": [callback, callback]])
        #expect(
            found == [
                DeviceRegistration(
                    kind: .oath(uri: "otpauth://totp/Example:bob%20b?period=30&secret=GEZDGNBV"), issuer: "Example",
                    account: "bob b")
            ])
    }

    @Test func oneThatRegistersBothWaysCountsForBoth() {
        let uri = Self.pushURI().replacing("pushauth://push/", with: "mfauth://totp/") + "&secret=GEZDGNBV"
        let found = DeviceRegistration.find(in: Self.step(uri))
        #expect(found.count == 2)
        #expect(found.first?.kind == .oath(uri: "otpauth" + uri.dropFirst("mfauth".count)))
    }

    @Test(arguments: [
        "pushauth://push/a?s=AAAA", "https://a.example.com/?otpauth", "otpauth://totp", "otpauth:nothing", "",
        "otpauth://totp/" + String(repeating: "a", count: 5000) + "?secret=A",
    ])
    func whatIsNoneIsNot(_ text: String) {
        #expect(DeviceRegistration.find(in: Self.step(text)).isEmpty)
    }

    // MARK: messages

    private func registration(_ uri: String) throws -> DeviceMessage {
        let found = try #require(DeviceRegistration.find(in: Self.step(uri)).first)
        guard case .push(let push) = found.kind else { throw DeviceMessage.Refusal(words: "no push") }
        return try DeviceMessage.registering(push, as: Self.kept(), at: Self.server)
    }

    private func claims(_ message: DeviceMessage) throws -> JSONValue {
        let token = try #require(try JSONValue(parsing: message.body)["jwt"]?.text)
        #expect(SignedClaims.isSigned(token, key: Self.secret))
        return try #require(SignedClaims.unverified(token))
    }

    @Test func aRegistrationIsSaid() throws {
        let message = try registration(Self.pushURI())
        #expect(message.head.url == Self.base + "register")
        #expect(message.head.fields["Cookie"] == "amlbcookie=01")
        #expect(message.head.fields["Accept-API-Version"] == "protocol=1.0,resource=1.0")
        #expect(try JSONValue(parsing: message.body)["messageId"]?.text == "REGISTER:1")
        let claims = try claims(message)
        #expect(claims["response"]?.text == "HLnb0Ch3S657qOL9mJCj1oNvskd0/DN6fVbuj3Q21i4=")
        #expect(claims["mechanismUid"]?.text == "M1" && claims["communicationType"]?.text == "gcm")
    }

    @Test(arguments: [
        ("https://evil.example.com/am/json/push/sns/message?_action=register", Self.base + "authenticate"),
        (Self.base + "register", "https://evil.example.com/am/json/push/sns/message?_action=authenticate"),
        ("http://am.example.com/am/json/push/sns/message?_action=register", Self.base + "authenticate"),
        ("https://am.example.com/am/json/users?_action=register", Self.base + "authenticate"),
        ("https://am.example.com/am/json/push/sns/message?_action=authenticate", Self.base + "authenticate"),
        (Self.base + "register&_action=other", Self.base + "authenticate"),
        ("https://am.example.com/push/sns/message?_action=register", Self.base + "authenticate"),
        ("nothing", Self.base + "authenticate"),
    ])
    func nothingGoesAnywhereElse(_ register: String, _ answer: String) {
        #expect(throws: DeviceMessage.Refusal.self) {
            try registration(Self.pushURI(register: register, answer: answer))
        }
    }

    @Test func aPushIsDenied() throws {
        let message = try DeviceMessage.answering(
            Self.delivered(), of: Self.kept(), approves: false, number: nil, at: Self.server)
        #expect(message.head.url == Self.base + "authenticate")
        #expect(
            String(decoding: message.body, as: UTF8.self)
                == "{\"messageId\":\"AUTHENTICATE:1\",\"jwt\":\"eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJyZXNwb25zZSI6IkhMbmIwQ2gzUzY1N3FPTDltSkNqMW9OdnNrZDAvRE42ZlZidWozUTIxaTQ9IiwiZGVueSI6dHJ1ZX0.dEqyBo7Fd1p9lP6KO90_TAKRg35IBz46z_Zd62zKrDo\"}"
        )
    }

    @Test func aNumberIsChosen() throws {
        let message = try DeviceMessage.answering(
            Self.delivered(), of: Self.kept(), approves: true, number: "43", at: Self.server)
        let claims = try claims(message)
        #expect(claims["challengeResponse"]?.text == "43" && claims["deny"] == nil)
    }

    // MARK: pushes

    /// RFC 7515 §A.1.
    @Test func aKnownToken() throws {
        let key = try #require(
            Base64.decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"))
        let token =
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        #expect(SignedClaims.isSigned(token, key: key))
        #expect(!SignedClaims.isSigned(token, key: Self.secret))
        #expect(
            !SignedClaims.isSigned(token.replacing("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9", with: "e30"), key: key))
    }

    @Test func aPushIsRead() throws {
        let message = try Self.delivered()
        #expect(message.device == Self.kept().id && message.messageID == "AUTHENTICATE:1")
        #expect(message.challenge == Self.challenge && message.numbers == ["34", "43", "57"])
        #expect(message.affinity == "amlbcookie=01" && message.lifetime == 60)
    }

    @Test(arguments: [
        "{\"messageId\":\"1\",\"message\":\"PUSH\"}", "{\"data\":{\"messageId\":\"1\",\"message\":\"PUSH\"}}",
        "{\"aps\":{\"messageId\":\"1\",\"data\":\"PUSH\"}}",
        "{\"messageId\":\"1\",\"data\":\"PUSH\",\"aps\":{\"alert\":\"x\"}}",
    ])
    func eachFormOfDelivery(_ body: String) throws {
        let body = Array(body.replacing("PUSH", with: Self.push).utf8)
        #expect(try PushMessage(delivered: body, at: Self.now, to: Self.device()).messageID == "1")
    }

    @Test func aPushForNobodyHereIsRefused() throws {
        let body = Array("{\"messageId\":\"1\",\"message\":\"\(Self.push)\"}".utf8)
        #expect(throws: PushMessage.Refusal.unknownDevice) {
            try PushMessage(delivered: body, at: Self.now, to: Self.device(Self.kept("M2")))
        }
    }

    /// AM says in milliseconds when it was made; its clock may be minutes off.
    @Test(arguments: [(-301, nil), (-300, 60), (0, 60), (59, 60), (355, 5), (360, nil), (100_000, nil)])
    func aPushIsForItsTime(_ age: Int, _ lifetime: Int?) throws {
        let token = Self.token(1, issued: Self.now)
        guard let lifetime else {
            #expect(throws: PushMessage.Refusal.untimely) { try Self.delivered(token, at: Self.now + age) }
            return
        }
        let push = try Self.delivered(token, at: Self.now + age)
        #expect(push.lifetime == lifetime && push.memory == 360 - age)
    }

    @Test func aPushThatSomebodyElseSignedIsRefused() {
        #expect(throws: PushMessage.Refusal.wrongSignature) {
            try Self.delivered(String(Self.push.dropLast(3)) + "AAA")
        }
    }

    /// Whoever may reach the proxy may post: no device is looked for before it looks like a push.
    @Test func whatIsNoPushCostsNoLook() {
        for body in ["{}", "{\"messageId\":\"1\"}", "{\"messageId\":\"1\",\"message\":\"e30.e30.e30\"}", "["] {
            #expect(throws: PushMessage.Refusal.self) {
                try PushMessage(delivered: Array(body.utf8), at: Self.now) { _ in
                    Issue.record("looked for a device")
                    return nil
                }
            }
        }
    }

    // MARK: what is kept

    @Test func theRosterIsOfWhatIsKept() {
        var roster = DeviceRoster()
        let (old, new) = (Self.kept("M1"), Self.kept("M2", registered: 1))
        roster.read([old.id: old.document])
        #expect(roster.device(mechanism: "M1") == old && roster.device(mechanism: "M2") == nil)
        roster.read([old.id: old.document, new.id: new.document])
        #expect(roster.devices == [new, old] && roster.device(mechanism: "M2") == new)
        roster.read([new.id: new.document])
        #expect(roster.device(mechanism: "M1") == nil)
    }

    @Test func aDocumentIsReadAgain() throws {
        let kept = Self.kept()
        #expect(KeptDevice(kept.document) == kept)
        #expect(kept.id.utf8.count == 10)
        #expect(Self.kept("M2").id != kept.id)
        #expect(!kept.summary.serialized.contains(Base64.encode(Self.secret)))
        #expect(KeptDevice(Array("{}".utf8)) == nil)
    }
}
