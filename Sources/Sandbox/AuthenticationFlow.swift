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
    /// AM as the one who started it named it.
    var amURL = ""
    /// Which of the tree's nodes is asked for.
    var node = 0
    /// The questions of the newest step.
    var asked: [Question] = []
    /// The one-time key of the newest step: older ones are refused.
    var key = ""
    var name: String?
    var password: String?
    /// What nodes remember of this journey.
    var state: [String: String] = [:]
    /// What AM does wrong on the way.
    var faults = Faults()
    /// Wrong answers so far.
    var failures = 0

    /// Whose answers these are said to be: who was named, else whose session it is.
    var claimed: String? { name ?? session?.user }

    /// The beginning once more.
    mutating func restart() {
        node = 0
        name = nil
        password = nil
        state = [:]
        failures += 1
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

    private func key(_ realm: String) -> [UInt8] { Signature.code(Array(realm.utf8), key: secret) }

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
        let token = SignedToken.encode(claims, key: key(flow.realm))
        guard let size = flow.faults[.amHuge] else { return token }
        // what follows a tilde is no part of the token
        return token + "~" + String(repeating: "a", count: max(0, size - token.utf8.count - 1))
    }

    func find(authId: String, realm: String, now: Int) -> Lookup {
        let token = String(authId.prefix { $0 != "~" })
        guard let claims = SignedToken.decode(token, key: key(realm)), let id = claims["sessionId"]?.text else {
            return .unreadable
        }
        guard let flow = flows.value(id, now: now), flow.key == claims["otk"]?.text else { return .gone }
        return .found(flow)
    }

    /// The flow that a step belongs to, whether or not it is the newest; nil for a start.
    func flowId(of request: SandboxRequest) -> String? {
        guard let step = try? JSONValue(parsing: request.body), let authId = step["authId"]?.text else { return nil }
        let parts = authId.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[1]) else { return nil }
        return (try? JSONValue(parsing: bytes))?["sessionId"]?.text
    }

    /// The flow that a mailed link goes on with.
    func flow(_ id: String, now: Int) -> AuthenticationFlow? { flows.value(id, now: now) }
}
