public import Formats
internal import TLSEngine

/// What a registration came to, as it is kept over restarts.
public struct KeptDevice: Equatable, Sendable {
    enum Factor: Equatable, Sendable {
        case oath(uri: String)
        case push(Push)
    }

    struct Push: Equatable, Sendable {
        /// By what AM names this device in its pushes.
        var mechanism: String
        var secret: [UInt8]
        /// Where answers go.
        var url: String
    }

    /// The entry of `devices` that it was registered by.
    public var device: String
    /// AM's URL.
    public var server: String
    public var realm: String
    /// The session's user, by AM's word.
    public var user: String
    public var issuer: String
    public var account: String
    /// In seconds since 1970.
    public var registered: Int
    var factor: Factor

    /// By what people name it; it tells nothing of its secret.
    public var id: String {
        let text: String =
            switch factor {
            case .oath(let uri): uri
            case .push(let push): push.mechanism
            }
        return Digest.sha256(Array("\(server) \(realm) \(user) \(text)".utf8)).prefix(5).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// All of them are looked at where a push comes.
    static let most = 1000

    public var isPush: Bool { if case .push = factor { true } else { false } }
    var push: Push? { if case .push(let push) = factor { push } else { nil } }

    // MARK: the document

    var document: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("device", .string(device)), .init("server", .string(server)), .init("realm", .string(realm)),
            .init("user", .string(user)), .init("issuer", .string(issuer)), .init("account", .string(account)),
            .init("registered", .integer(registered)),
        ]
        switch factor {
        case .oath(let uri): members.append(.init("uri", .string(uri)))
        case .push(let push):
            members += [
                .init("mechanism", .string(push.mechanism)), .init("secret", .string(Base64.encode(push.secret))),
                .init("url", .string(push.url)),
            ]
        }
        return Array(JSONValue.object(members).serialized.utf8)
    }

    /// Nil for what is no such document.
    public init?(_ document: [UInt8]) {
        guard let value = try? JSONValue(parsing: document), let device = value["device"]?.text,
            let server = value["server"]?.text, let realm = value["realm"]?.text, let user = value["user"]?.text,
            let registered = value["registered"]?.integer
        else { return nil }
        if let uri = value["uri"]?.text {
            factor = .oath(uri: uri)
        } else if let mechanism = value["mechanism"]?.text, let url = value["url"]?.text,
            let secret = value["secret"]?.text.flatMap({ Base64.decode($0) })
        {
            factor = .push(Push(mechanism: mechanism, secret: secret, url: url))
        } else {
            return nil
        }
        self.device = device
        self.server = server
        self.realm = realm
        self.user = user
        self.registered = registered
        issuer = value["issuer"]?.text ?? ""
        account = value["account"]?.text ?? ""
    }

    init(_ place: Place, device: String, _ registration: DeviceRegistration, registered: Int, factor: Factor) {
        self.device = device
        server = place.server
        realm = place.realm
        user = place.user
        issuer = registration.issuer
        account = registration.account
        self.registered = registered
        self.factor = factor
    }

    /// Whose devices: those of others have no part in a journey.
    struct Place: Equatable, Sendable {
        var server: String
        var realm: String
        var user: String
    }

    var place: Place { Place(server: server, realm: realm, user: user) }

    /// For a list, without secrets.
    public var summary: JSONValue {
        .object([
            .init("id", .string(id)), .init("device", .string(device)),
            .init("factor", .string(isPush ? "push" : "oath")), .init("user", .string(user)),
            .init("realm", .string(realm)), .init("am", .string(server)), .init("issuer", .string(issuer)),
            .init("account", .string(account)), .init("registered", .integer(registered)),
        ])
    }
}

extension StateStore {
    /// All that are kept, the newest first.
    public var keptDevices: [KeptDevice] {
        documents(in: .devices).values.compactMap(KeptDevice.init).sorted {
            ($0.registered, $0.id) > ($1.registered, $1.id)
        }
    }

    /// - Returns: false where there is no room.
    func keep(_ device: KeptDevice) -> Bool {
        documents(in: .devices).count < KeptDevice.most && set(StateKey(.devices, device.id), device.document)
    }
}
