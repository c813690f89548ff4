internal import Formats
internal import HTTPCodec
internal import Interception
internal import TLSEngine

/// A message from a device to AM: a registration, or the answer to a push.
struct DeviceMessage: Sendable {
    enum Purpose: Sendable {
        /// - Parameter device: the device to store once AM has accepted the message.
        case register(KeptDevice)
        case answer
    }

    var purpose: Purpose
    /// The device's name.
    var device: String
    var head: RequestHead
    var body: [UInt8]
    /// The log text.
    var words: String

    var action: Action {
        switch purpose {
        case .register: .pushRegister
        case .answer: .pushAuthenticate
        }
    }

    /// The reason why no message can be sent to AM, as one sentence.
    struct Refusal: Error {
        var words: String
    }

    static func registering(
        _ push: PushRegistration, as kept: KeptDevice, at server: AuthorizationServer
    ) throws(Refusal) -> DeviceMessage {
        guard let own = kept.push else { throw Refusal(words: "the device takes no pushes") }
        _ = try request(push.answerURL, "authenticate", push.affinity, server)
        let claims: JSONValue = [
            "response": .string(try response(push.challenge, push.secret)), "mechanismUid": .string(own.mechanism),
            "deviceId": "usher-\(own.mechanism)", "deviceName": .string(kept.device), "deviceType": "android",
            "communicationType": "gcm",
        ]
        return DeviceMessage(
            purpose: .register(kept), device: kept.device,
            head: try request(push.registerURL, "register", push.affinity, server),
            body: try body(push.messageID, claims, push.secret),
            words: "the device \(kept.device) is registered for pushes")
    }

    /// - Parameter number: the answer to a number challenge.
    static func answering(
        _ message: PushMessage, of kept: KeptDevice, approves: Bool, number: String?, at server: AuthorizationServer
    ) throws(Refusal) -> DeviceMessage {
        guard let own = kept.push else { throw Refusal(words: "the device takes no pushes") }
        var claims: JSONValue = ["response": .string(try response(message.challenge, own.secret))]
        if !approves { claims["deny"] = true }
        if let number { claims["challengeResponse"] = .string(number) }
        let said = approves ? number == nil ? "approves" : "chooses a number of" : "denies"
        return DeviceMessage(
            purpose: .answer, device: kept.device, head: try request(own.url, "authenticate", message.affinity, server),
            body: try body(message.messageID, claims, own.secret), words: "the device \(kept.device) \(said) the push")
    }

    // MARK: building messages

    private static func response(_ challenge: [UInt8], _ secret: [UInt8]) throws(Refusal) -> String {
        guard let code = MessageCode.hmac(.sha256, key: secret, challenge) else {
            throw Refusal(words: "the library makes no code")
        }
        return Base64.encode(code)
    }

    private static func body(
        _ id: String, _ claims: JSONValue, _ secret: [UInt8]
    ) throws(Refusal) -> [UInt8] {
        guard let token = SignedClaims.sign(claims, key: secret) else {
            throw Refusal(words: "the library makes no signature")
        }
        let body: JSONValue = ["messageId": .string(id), "jwt": .string(token)]
        return Array(body.serialized.utf8)
    }

    /// Builds the request. The URL comes from a journey, so only AM's message endpoint is allowed.
    private static func request(
        _ url: String, _ action: String, _ affinity: String?, _ server: AuthorizationServer
    ) throws(Refusal) -> RequestHead {
        guard var head = try? RequestHead(method: "POST", url: url), server.takesMessages(at: head, action) else {
            throw Refusal(
                words: "\(LogText.shown(url)) is not an endpoint for messages of \(server.url); nothing is sent there")
        }
        head.fields.add("Accept", "application/json")
        head.fields.add("Accept-API-Version", "protocol=1.0,resource=1.0")
        head.fields.add("Content-Type", "application/json")
        if let affinity, let cookie = usable(affinity) { head.fields.add("Cookie", cookie) }
        return head
    }

    private static func usable(_ cookie: String) -> String? {
        let parts = cookie.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, FieldSyntax.isName(String(parts[0])), SessionSource.isUsable(String(parts[1])),
            FieldSyntax.isValue(cookie)
        else { return nil }
        return cookie
    }
}

extension AuthorizationServer {
    /// Whether the request goes to `…/push/sns/message?_action=register` of this server.
    func takesMessages(at head: RequestHead, _ action: String) -> Bool {
        guard refusal(of: head) == nil, head.query.map({ QueryText($0).values(named: "_action") }) == [action] else {
            return false
        }
        return head.path == paths[.push] || head.path.hasSuffix("/push/sns/message")
    }
}
