public import Formats
internal import TLSEngine

/// A registered device as stored across restarts.
public struct KeptDevice: Equatable, Sendable {
    enum Factor: Equatable, Sendable {
        case oath(uri: String)
        case push(Push)
    }

    struct Push: Equatable, Sendable {
        /// AM's id of this device in its pushes.
        var mechanism: String
        var secret: [UInt8]
        /// The URL for answers.
        var url: String
    }

    /// The entry of `devices` that registered it.
    public let device: String
    /// The URL of AM.
    public let server: String
    public let realm: String
    /// The session's user according to AM.
    public let user: String
    public let issuer: String
    public let account: String
    /// Seconds since 1970.
    public let registered: Int
    let factor: Factor
    /// The id for people. It reveals nothing of the secret.
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
        var members: JSONValue = [
            "device": .string(device), "server": .string(server), "realm": .string(realm), "user": .string(user),
            "issuer": .string(issuer), "account": .string(account), "registered": .integer(registered),
        ]
        switch factor {
        case .oath(let uri): members["uri"] = .string(uri)
        case .push(let push):
            members["mechanism"] = .string(push.mechanism)
            members["secret"] = .string(Base64.encode(push.secret))
            members["url"] = .string(push.url)
        }
        return Array(members.serialized.utf8)
    }

    /// Nil if the document is malformed.
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

    /// The same device with another user.
    func of(_ user: String) -> KeptDevice {
        KeptDevice(
            Place(server: server, realm: realm, user: user), device: device, (issuer, account), registered: registered,
            factor: factor)
    }

    /// The owner of a device. Devices of other owners take no part in a journey.
    struct Place: Equatable, Sendable {
        var server: String
        var realm: String
        var user: String
    }

    var place: Place { Place(server: server, realm: realm, user: user) }

    /// The device for a list, without secrets.
    public var summary: JSONValue {
        [
            "id": .string(id), "device": .string(device), "factor": .string(isPush ? "push" : "oath"),
            "user": .string(user), "realm": .string(realm), "am": .string(server), "issuer": .string(issuer),
            "account": .string(account), "registered": .integer(registered),
        ]
    }
}

extension KeptDevice {
    /// Newest first.
    static func all(in documents: [String: [UInt8]]) -> [KeptDevice] {
        documents.values.compactMap(KeptDevice.init).sorted { ($0.registered, $0.id) > ($1.registered, $1.id) }
    }

    /// Whether the other is a device of the same user, kind and `devices` entry.
    private func isLike(_ other: KeptDevice) -> Bool {
        place == other.place && device == other.device && isPush == other.isPush && id != other.id
    }

    static let most = 1000
    /// Limit of devices of one kind, user and entry, because each test run may register one.
    static let mostAlike = 4

    /// The devices to remove when this one is stored; nil if there is no room for it.
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
    /// All stored devices, newest first.
    public var keptDevices: [KeptDevice] { KeptDevice.all(in: documents(in: .devices)) }

    /// - Parameter devices: all stored devices.
    func hasRoom(for device: KeptDevice, beside devices: [KeptDevice]) -> Bool {
        device.displaced(in: documents(in: .devices), beside: devices) != nil
    }

    /// - Returns: false if there is no room.
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
