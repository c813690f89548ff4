internal import Formats
internal import HTTPCodec

/// One run through a tree, from its start to its last answer.
struct AuthenticationFlow: Sendable {
    var id: String
    var realm: String
    /// `authIndexType` and `authIndexValue` of the start; a continuation takes them from here, not from its URL.
    var indexType: String
    var indexValue: String
    var tree: Tree
    /// The session that the start carried: an upgrade replaces it, a transaction belongs to it.
    var session: Session?
    var transaction: String?
    var createsSession = true
    var page = 0
    /// The one-time key of the newest step: older ones are refused.
    var key = ""
    var name = ""
    var password = ""
    var approves = true
    /// Wrong answers so far.
    var failures = 0

    mutating func take(_ answers: [Answer]) {
        for answer in answers {
            switch answer {
            case .name(let text): name = text
            case .password(let text): password = text
            case .approval(let yes): approves = yes
            }
        }
    }

    /// Whose answers these are; nil when they are wrong.
    var identified: String? {
        if tree == .transaction(.choice) { return approves ? session?.user : nil }
        let claimed = tree == .transaction(.password) ? session?.user ?? "" : name
        return Directory.accepts(claimed, password) ? claimed : nil
    }
}

/// The flows that are under way, and the `authId` tokens that point at them.
///
/// An `authId` is a token signed per realm with the claims `otk`, `authIndexType`, `authIndexValue`, `realm`,
/// `sessionId` and `exp`, as AM's is.
struct FlowTable: Sendable {
    /// Seconds from the start to the last answer.
    static let lifetime = 300

    enum Lookup: Sendable {
        case found(AuthenticationFlow)
        /// No token of this realm.
        case unreadable
        /// Well signed, but its flow is over, or a newer step was given out.
        case gone
    }

    private var flows = ExpiringTable<AuthenticationFlow>(lifetime: Self.lifetime)
    private let secret: [UInt8]

    init(secret: [UInt8]) { self.secret = secret }

    private func key(_ realm: String) -> [UInt8] { SHA256.authenticate(Array(realm.utf8), key: secret) }

    mutating func begin(_ flow: AuthenticationFlow, now: Int) { flows.insert(flow, id: flow.id, now: now) }

    mutating func end(_ flow: AuthenticationFlow) { flows.remove(flow.id) }

    /// Keeps the flow as it now is and makes the `authId` of its next step.
    mutating func authId(_ flow: AuthenticationFlow, from tokens: inout TokenSource, now: Int) -> String {
        var next = flow
        next.key = tokens.token()
        flows.replace(flow.id, next)
        let claims = JSONValue.record([
            "otk": .string(next.key), "authIndexType": .string(flow.indexType),
            "authIndexValue": .string(flow.indexValue), "realm": .string(RealmRoute.distinguishedName(flow.realm)),
            "sessionId": .string(flow.id), "iat": .integer(now), "exp": .integer(now + Self.lifetime),
        ])
        return SignedToken.encode(claims, key: key(flow.realm))
    }

    func find(authId: String, realm: String, now: Int) -> Lookup {
        guard let claims = SignedToken.decode(authId, key: key(realm)), let id = claims["sessionId"]?.text else {
            return .unreadable
        }
        guard let flow = flows.value(id, now: now), flow.key == claims["otk"]?.text else { return .gone }
        return .found(flow)
    }
}
