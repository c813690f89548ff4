internal import Formats

/// Registers a device for one-time passwords. Like AM, the page shows the secret to programs and as a QR code.
struct CodeRegistrationPage: TreeNode {
    /// True for TOTP, false for HOTP.
    var isTimed = true

    func isPassed(_ journey: Journey, _ identities: IdentityStore) -> Bool {
        journey.owner.map(identities.devices.hasCodes) ?? false
    }

    func page(_ journey: inout Journey, _: inout IdentityStore, _ ids: inout TokenSource, _: Int) -> [Question] {
        let secret = Base64.encode(ids.bytes(20))
        journey.state["secret"] = secret
        let uri =
            "otpauth://\(isTimed ? "totp" : "hotp")/Sandbox:\(PercentCoding.encode(journey.claimed ?? ""))"
            + "?\(isTimed ? "period=30" : "counter=0")&b=032b75&digits=6&secret="
            + Base32.encode(Base64.decode(secret) ?? []) + "&issuer=Sandbox"
        return Question.registration(uri) + [.confirmation(["Next"])]
    }

    func take(_: Answers, _ journey: inout Journey, _ identities: inout IdentityStore, _: Int) -> NodeOutcome {
        guard let owner = journey.owner, let secret = journey.state["secret"].flatMap({ Base64.decode($0) }) else {
            return .failed("no user to register a device for")
        }
        identities.devices.registerCodes(owner, secret: secret, isTimed: isTimed)
        return .next
    }
}

/// Asks for a one-time password of the registered device.
struct DeviceCodePage: TreeNode {
    func page(_: inout Journey, _: inout IdentityStore, _: inout TokenSource, _: Int) -> [Question] {
        [.code, .submit]
    }

    func take(
        _ answers: Answers, _ journey: inout Journey, _ identities: inout IdentityStore, _ now: Int
    ) -> NodeOutcome {
        guard let owner = journey.owner, identities.devices.takes(answers.text(0), of: owner, now: now) else {
            return .failed("not a code of the device")
        }
        return .next
    }
}

/// Registers a device for pushes and waits until it has registered itself.
struct PushRegistrationPage: TreeNode {
    func isPassed(_ journey: Journey, _ identities: IdentityStore) -> Bool {
        journey.owner.map { identities.devices.push($0) != nil } ?? false
    }

    func page(
        _ journey: inout Journey, _ identities: inout IdentityStore, _ ids: inout TokenSource, _ now: Int
    ) -> [Question] {
        if journey.state["register"] == nil {
            let id = "REGISTER:\(ids.uuid())"
            let (secret, challenge) = (ids.bytes(32), ids.bytes(32))
            journey.state["register"] = id
            journey.state["uri"] = uri(journey, id, secret, challenge)
            journey.state["secret"] = Base64.encode(secret)
            identities.devices.send(.init(secret: secret, challenge: challenge), id: id, now: now)
        }
        return Question.registration(journey.state["uri"] ?? "") + [.wait(200, "Waiting for response...")]
    }

    private func uri(_ journey: Journey, _ id: String, _ secret: [UInt8], _ challenge: [UInt8]) -> String {
        func coded(_ bytes: [UInt8]) -> String { Base64.encode(bytes, urlSafe: true) }
        func endpoint(_ action: String) -> String {
            let service = "\(journey.start.amURL)/json\(RealmRoute.path(journey.realm))/push/sns/message"
            return coded(Array("\(service)?_action=\(action)".utf8))
        }
        return "pushauth://push/Sandbox:\(PercentCoding.encode(journey.claimed ?? ""))"
            + "?l=\(coded(Array("amlbcookie=01".utf8)))&issuer=\(coded(Array("Sandbox".utf8)))&m=\(id)&s=\(coded(secret))&c=\(coded(challenge))"
            + "&r=\(endpoint("register"))&a=\(endpoint("authenticate"))&b=032b75"
    }

    func take(_: Answers, _ journey: inout Journey, _ identities: inout IdentityStore, _ now: Int) -> NodeOutcome {
        guard let owner = journey.owner, let id = journey.state["register"],
            let secret = journey.state["secret"].flatMap({ Base64.decode($0) })
        else { return .failed("no user to register a device for") }
        guard case .registered(let mechanism) = identities.devices.answer(to: id, now: now) else {
            return .again("no device registered")
        }
        identities.devices.register(owner, .init(mechanism: mechanism, secret: secret))
        return .next
    }
}

/// Sends a push and waits for its answer.
struct PushPage: TreeNode {
    /// True if the user has to choose the number on this page among three.
    var asksNumber = false

    func page(
        _ journey: inout Journey, _ identities: inout IdentityStore, _ ids: inout TokenSource, _ now: Int
    ) -> [Question] {
        if journey.state["push"] == nil { send(&journey, &identities, &ids, now) }
        var page: [Question] = [.wait(200, "Waiting for response...")]
        if let number = journey.state["number"] { page.append(.hidden("pushChallengeNumber", value: number)) }
        return page + [.exit("Exit")]
    }

    private func send(
        _ journey: inout Journey, _ identities: inout IdentityStore, _ ids: inout TokenSource, _ now: Int
    ) {
        guard let owner = journey.owner, let push = identities.devices.push(owner) else { return }
        let id = "AUTHENTICATE:\(ids.uuid())"
        let challenge = ids.bytes(32)
        var claims: JSONValue = [
            "c": .string(Base64.encode(challenge)), "u": .string(push.mechanism),
            "l": .string(Base64.encode(Array("amlbcookie=01".utf8))), "t": .string(String(DeviceRegister.lifetime)),
            "i": .string(String(now * 1000)), "m": "Login attempt from \(journey.claimed ?? "")",
            "k": .string(asksNumber ? "challenge" : "default"),
        ]
        var message = DeviceRegister.Message(secret: push.secret, challenge: challenge, owner: owner)
        if asksNumber {
            let first = Int(ids.bytes(1).first ?? 0) % 30
            let numbers = [first + 10, first + 40, first + 70].map(String.init)
            let number = numbers[Int(ids.bytes(1).first ?? 0) % 3]
            claims["n"] = .string(numbers.joined(separator: ","))
            journey.state["number"] = number
            message.number = number
        }
        journey.state["push"] = id
        let body: JSONValue = [
            "messageId": .string(id), "message": .string(SignedToken.encode(claims, key: push.secret)),
        ]
        identities.devices.send(message, id: id, push: Array(body.serialized.utf8), now: now)
    }

    func take(
        _ answers: Answers, _ journey: inout Journey, _ identities: inout IdentityStore, _ now: Int
    ) -> NodeOutcome {
        guard let id = journey.state["push"] else { return .failed("no device to send a push to") }
        guard answers.index(journey.asked.count - 1) != 0 else { return .failed("left") }
        switch identities.devices.answer(to: id, now: now) {
        case .approved: return .next
        case .denied: return .failed("the push was denied")
        case .none, .registered: return .again("the push was not answered yet")
        }
    }
}

extension Question {
    /// The callbacks with a device's URI: for people and for programs.
    static func registration(_ uri: String) -> [Question] {
        [
            .message("Scan the barcode image below with the ForgeRock Authenticator app to register your device."),
            .barcode(uri), .hidden("mfaDeviceRegistration", value: uri),
        ]
    }

    private static func barcode(_ uri: String) -> Question {
        let text = uri.reduce(into: "") { out, character in
            switch character {
            case ":": out += "\\x3A"
            case "/": out += "\\x2F"
            case "?": out += "\\x3F"
            case "&": out += "\\x26"
            case "=": out += "\\x3D"
            default: out.append(character)
            }
        }
        return Question(
            "TextOutputCallback",
            [
                "message": .string("window.QRCodeReader.createCode({ id: 'callback_0', text: '\(text)' });"),
                "messageType": .string("4"),
            ])
    }

    /// A button that counts as unpressed if its number is returned unchanged.
    static func exit(_ label: String) -> Question {
        confirmation([label], .init(initial: .integer(100), kind: .number))
    }
}
