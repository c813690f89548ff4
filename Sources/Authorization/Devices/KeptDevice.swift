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
    public let device: String
    /// AM's URL.
    public let server: String
    public let realm: String
    /// The session's user, by AM's word.
    public let user: String
    public let issuer: String
    public let account: String
    /// In seconds since 1970.
    public let registered: Int
    let factor: Factor
    /// By what people name it; it tells nothing of its secret.
    public let id: String

    private static func id(_ place: Place, _ factor: Factor) -> String {
        let text: String =
            switch factor {
            case .oath(let uri): uri
            case .push(let push): push.mechanism
            }
        let whole = "\(place.server) \(place.realm) \(place.user) \(text)"
        return Digest.sha256(Array(whole.utf8)).prefix(5).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

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
        let factor: Factor
        if let uri = value["uri"]?.text {
            factor = .oath(uri: uri)
        } else if let mechanism = value["mechanism"]?.text, let url = value["url"]?.text,
            let secret = value["secret"]?.text.flatMap({ Base64.decode($0) })
        {
            factor = .push(Push(mechanism: mechanism, secret: secret, url: url))
        } else {
            return nil
        }
        self.init(
            Place(server: server, realm: realm, user: user), device: device,
            (value["issuer"]?.text ?? "", value["account"]?.text ?? ""), registered: registered, factor: factor)
    }

    init(_ place: Place, device: String, _ registration: DeviceRegistration, registered: Int, factor: Factor) {
        self.init(
            place, device: device, (registration.issuer, registration.account), registered: registered, factor: factor)
    }

    private init(
        _ place: Place, device: String, _ label: (issuer: String, account: String), registered: Int, factor: Factor
    ) {
        self.device = device
        server = place.server
        realm = place.realm
        user = place.user
        (issuer, account) = label
        self.registered = registered
        self.factor = factor
        id = Self.id(place, factor)
    }

    /// The same as another user's.
    func of(_ user: String) -> KeptDevice {
        KeptDevice(
            Place(server: server, realm: realm, user: user), device: device, (issuer, account), registered: registered,
            factor: factor)
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

extension KeptDevice {
    /// The newest first.
    static func all(in documents: [String: [UInt8]]) -> [KeptDevice] {
        documents.values.compactMap(KeptDevice.init).sorted { ($0.registered, $0.id) > ($1.registered, $1.id) }
    }

    /// The same user's, of the same kind, by the same entry of `devices`.
    private func isLike(_ other: KeptDevice) -> Bool {
        place == other.place && device == other.device && isPush == other.isPush && id != other.id
    }

    static let most = 1000
    /// Of one kind, of one user and entry: runs of tests register each time.
    static let mostAlike = 4

    /// Those that have to go where this one is kept, too; nil where there is no room for it.
    fileprivate func displaced(
        in documents: [String: [UInt8]], beside devices: [KeptDevice]
    ) -> [KeptDevice]? {
        let leaving = devices.filter(isLike).dropFirst(Self.mostAlike - 1)
        let gone = Set(leaving.map(\.id) + [id])
        let left = documents.filter { !gone.contains($0.key) }
        let bytes = left.reduce(id.utf8.count + document.count) { $0 + $1.key.utf8.count + $1.value.count }
        return left.count < Self.most && bytes <= StateDocuments.mostBytes ? Array(leaving) : nil
    }
}

extension StateStore {
    /// All devices that are kept, the newest first.
    public var keptDevices: [KeptDevice] { KeptDevice.all(in: documents(in: .devices)) }

    /// - Parameter devices: all that are kept.
    func hasRoom(for device: KeptDevice, beside devices: [KeptDevice]) -> Bool {
        device.displaced(in: documents(in: .devices), beside: devices) != nil
    }

    /// - Returns: false where there is no room.
    func keep(_ device: KeptDevice) -> Bool {
        let documents = documents(in: .devices)
        guard let displaced = device.displaced(in: documents, beside: KeptDevice.all(in: documents)) else {
            return false
        }
        for old in displaced { forget(old) }
        return set(StateKey(.devices, device.id), device.document)
    }

    func forget(_ device: KeptDevice) { remove(StateKey(.devices, device.id)) }
}
