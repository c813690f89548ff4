internal import Formats

/// Registers a device for one-time passwords: the secret is told as AM tells it, once for programs and once for the eye.
struct CodeRegistrationPage: TreeNode {
    /// By the clock (TOTP), or one after another (HOTP).
    var isTimed = true

    func isPassed(_ flow: AuthenticationFlow, _ server: SandboxServer) -> Bool {
        flow.owner.map(server.devices.hasCodes) ?? false
    }

    func page(_ flow: inout AuthenticationFlow, _ server: inout SandboxServer, _: Int) -> [Question] {
        let secret = Base64.encode(server.tokens.bytes(20))
        flow.state["secret"] = secret
        let uri =
            "otpauth://\(isTimed ? "totp" : "hotp")/Sandbox:\(PercentCoding.encode(flow.claimed ?? ""))"
            + "?\(isTimed ? "period=30" : "counter=0")&b=032b75&digits=6&secret="
            + Base32.encode(Base64.decode(secret) ?? []) + "&issuer=Sandbox"
        return [
            .message("Scan the barcode image below with the ForgeRock Authenticator app to register your device."),
            .barcode(uri), .hidden("mfaDeviceRegistration", value: uri), .confirmation(["Next"]),
        ]
    }

    func take(_: Answers, _ flow: inout AuthenticationFlow, _ server: inout SandboxServer, _: Int) -> NodeOutcome {
        guard let owner = flow.owner, let secret = flow.state["secret"].flatMap({ Base64.decode($0) }) else {
            return .failed("nobody to register a device for")
        }
        server.devices.registerCodes(owner, secret: secret, isTimed: isTimed)
        return .next
    }
}

/// Asks for a code of the device that was registered.
struct DeviceCodePage: TreeNode {
    func page(_: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> [Question] { [.code, .submit] }

    func take(
        _ answers: Answers, _ flow: inout AuthenticationFlow, _ server: inout SandboxServer, _ now: Int
    ) -> NodeOutcome {
        guard let owner = flow.owner, server.devices.takes(answers.text(0), of: owner, now: now) else {
            return .failed("no code of a device")
        }
        return .next
    }
}

/// Registers a device for pushes, and waits until it has said that it is there.
struct PushRegistrationPage: TreeNode {
    func isPassed(_ flow: AuthenticationFlow, _ server: SandboxServer) -> Bool {
        flow.owner.map { server.devices.push($0) != nil } ?? false
    }

    func page(_ flow: inout AuthenticationFlow, _ server: inout SandboxServer, _ now: Int) -> [Question] {
        if flow.state["register"] == nil {
            let id = "REGISTER:\(server.tokens.uuid())"
            let (secret, challenge) = (server.tokens.bytes(32), server.tokens.bytes(32))
            flow.state["register"] = id
            flow.state["uri"] = uri(flow, id, secret, challenge)
            flow.state["secret"] = Base64.encode(secret)
            server.devices.send(.init(secret: secret, challenge: challenge), id: id, now: now)
        }
        let uri = flow.state["uri"] ?? ""
        return [
            .message("Scan the barcode image below with the ForgeRock Authenticator app to register your device."),
            .barcode(uri), .hidden("mfaDeviceRegistration", value: uri), .wait(200, "Waiting for response..."),
        ]
    }

    private func uri(_ flow: AuthenticationFlow, _ id: String, _ secret: [UInt8], _ challenge: [UInt8]) -> String {
        func coded(_ bytes: [UInt8]) -> String { Base64.encode(bytes, urlSafe: true) }
        func endpoint(_ action: String) -> String {
            coded(Array("\(flow.amURL)/json\(RealmRoute.path(flow.realm))/push/sns/message?_action=\(action)".utf8))
        }
        return
            "pushauth://push/Sandbox:\(PercentCoding.encode(flow.claimed ?? ""))?l=\(coded(Array("amlbcookie=01".utf8)))"
            + "&issuer=\(coded(Array("Sandbox".utf8)))&m=\(id)&s=\(coded(secret))&c=\(coded(challenge))"
            + "&r=\(endpoint("register"))&a=\(endpoint("authenticate"))&b=032b75"
    }

    func take(_: Answers, _ flow: inout AuthenticationFlow, _ server: inout SandboxServer, _ now: Int) -> NodeOutcome {
        guard let owner = flow.owner, let id = flow.state["register"],
            let secret = flow.state["secret"].flatMap({ Base64.decode($0) })
        else { return .failed("nobody to register a device for") }
        guard case .registered(let mechanism) = server.devices.answer(to: id, now: now) else {
            return .again("no device yet")
        }
        server.devices.register(owner, .init(mechanism: mechanism, secret: secret))
        return .next
    }
}

/// Sends a push, and waits for its answer.
struct PushPage: TreeNode {
    /// One of three numbers has to be chosen: the one that this page shows.
    var asksNumber = false

    func page(_ flow: inout AuthenticationFlow, _ server: inout SandboxServer, _ now: Int) -> [Question] {
        if flow.state["push"] == nil { send(&flow, &server, now) }
        var page: [Question] = [.wait(200, "Waiting for response...")]
        if let number = flow.state["number"] { page.append(.shown("pushChallengeNumber", value: number)) }
        return page + [.exit("Exit")]
    }

    private func send(_ flow: inout AuthenticationFlow, _ server: inout SandboxServer, _ now: Int) {
        guard let owner = flow.owner, let push = server.devices.push(owner) else { return }
        let id = "AUTHENTICATE:\(server.tokens.uuid())"
        let challenge = server.tokens.bytes(32)
        var claims: [JSONValue.Member] = [
            .init("c", .string(Base64.encode(challenge))), .init("u", .string(push.mechanism)),
            .init("l", .string(Base64.encode(Array("amlbcookie=01".utf8)))),
            .init("t", .string(String(DeviceRegister.lifetime))), .init("i", .string(String(now * 1000))),
            .init("m", .string("Login attempt from \(flow.claimed ?? "")")),
            .init("k", .string(asksNumber ? "challenge" : "default")),
        ]
        var message = DeviceRegister.Message(secret: push.secret, challenge: challenge, owner: owner)
        if asksNumber {
            let first = Int(server.tokens.bytes(1).first ?? 0) % 30
            let numbers = [first + 10, first + 40, first + 70].map(String.init)
            let number = numbers[Int(server.tokens.bytes(1).first ?? 0) % 3]
            claims.append(.init("n", .string(numbers.joined(separator: ","))))
            flow.state["number"] = number
            message.number = number
        }
        flow.state["push"] = id
        server.devices.send(message, id: id, now: now)
        let body = JSONValue.record([
            "messageId": .string(id), "message": .string(SignedToken.encode(.object(claims), key: push.secret)),
        ])
        server.pushes.append(Array(body.serialized.utf8))
    }

    func take(
        _ answers: Answers, _ flow: inout AuthenticationFlow, _ server: inout SandboxServer, _ now: Int
    ) -> NodeOutcome {
        guard let id = flow.state["push"] else { return .failed("no device to send a push to") }
        guard answers.index(flow.asked.count - 1) != 0 else { return .failed("left") }
        switch server.devices.answer(to: id, now: now) {
        case .approved: return .next
        case .denied: return .failed("the push was denied")
        case .none, .registered: return .again("no answer to the push yet")
        }
    }
}

extension Question {
    /// What draws the URI for the eye.
    static func barcode(_ uri: String) -> Question {
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

    /// A number for the user's eyes, which programs find by its id.
    static func shown(_ id: String, value: String) -> Question {
        Question(
            "HiddenValueCallback", ["value": .string(value), "id": .string(id)], inputs: [.init(initial: .string(id))])
    }

    /// A button that is not pressed where its number comes back as it was.
    static func exit(_ label: String) -> Question {
        Question(
            "ConfirmationCallback",
            [
                "prompt": .string(""), "messageType": .integer(0), "options": .strings([label]),
                "optionType": .integer(-1), "defaultOption": .integer(0),
            ], inputs: [.init(initial: .integer(100), kind: .number)])
    }
}
