/// What a request means to AM (docs/protocol.md#actions). An open set: the names of the legacy SDKs, those that
/// newer SDKs added, and whatever a configuration defines.
public struct Action: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let startAuthenticate = Action(rawValue: "START_AUTHENTICATE")
    public static let authenticate = Action(rawValue: "AUTHENTICATE")
    public static let resumeAuthenticate = Action(rawValue: "RESUME_AUTHENTICATE")
    public static let authorize = Action(rawValue: "AUTHORIZE")
    public static let exchangeToken = Action(rawValue: "EXCHANGE_TOKEN")
    public static let refreshToken = Action(rawValue: "REFRESH_TOKEN")
    public static let revokeToken = Action(rawValue: "REVOKE_TOKEN")
    public static let logout = Action(rawValue: "LOGOUT")
    public static let userInfo = Action(rawValue: "USER_INFO")
    public static let endSession = Action(rawValue: "END_SESSION")
    public static let pushRegister = Action(rawValue: "PUSH_REGISTER")
    public static let pushAuthenticate = Action(rawValue: "PUSH_AUTHENTICATE")
    public static let pushUpdate = Action(rawValue: "PUSH_UPDATE")
    public static let deleteBinding = Action(rawValue: "DELETE_BINDING")
    public static let wellKnown = Action(rawValue: "WELL_KNOWN")
    public static let pushedAuthorization = Action(rawValue: "PAR")

    // calls of Usher's own (docs/interceptors.md#logins)
    public static let sessionLogin = Action(rawValue: "SESSION_LOGIN")
    public static let identityToken = Action(rawValue: "IDENTITY_TOKEN")
    // calls of Usher's own (docs/transactions.md#answers)
    public static let sessionInfo = Action(rawValue: "SESSION_INFO")
    /// (docs/transactions.md#without-a-gateway)
    public static let evaluatePolicy = Action(rawValue: "EVALUATE_POLICY")

    /// Those that no request of an app is ever recognised as.
    static let own: Set<Action> = [.sessionLogin, .identityToken, .sessionInfo, .evaluatePolicy]

    public static let known: [Action] = [
        .startAuthenticate, .authenticate, .resumeAuthenticate, .authorize, .exchangeToken, .refreshToken,
        .revokeToken, .logout, .userInfo, .endSession, .pushRegister, .pushAuthenticate, .pushUpdate,
        .deleteBinding, .wellKnown, .pushedAuthorization, .sessionLogin, .identityToken, .sessionInfo,
        .evaluatePolicy,
    ]

    /// Names of the newer JavaScript SDK for the same calls (docs/protocol.md#actions).
    public static let aliases: [String: Action] = [
        "JOURNEY_START": .startAuthenticate,
        "JOURNEY_NEXT": .authenticate,
        "JOURNEY_TERMINATE": .logout,
        "TOKEN_EXCHANGE": .exchangeToken,
        "REVOKE": .revokeToken,
    ]

    /// The action that a configuration means by this name: aliases are resolved, anything else is taken as it is.
    public init(named name: String) { self = Action.aliases[name] ?? Action(rawValue: name) }
}

/// The payload of START_AUTHENTICATE and AUTHENTICATE: which tree, started how.
public struct ActionPayload: Equatable, Sendable {
    /// The tree's name; the decoded advice document in a step-up; nil for the realm's default tree.
    public var tree: String?
    /// `service`, `composite_advice` and AM's other `authIndexType`s; nil where nothing tells.
    public var type: String?

    public init(tree: String?, type: String?) {
        self.tree = tree
        self.type = type
    }
}

/// What a request was recognised as, and by what.
public struct Classification: Equatable, Sendable {
    /// Where tree and type came from.
    public enum PayloadSource: String, Sendable { case query, `default`, authId, state, unknown }

    public var action: Action?
    public var payload: ActionPayload?
    /// The realm as a path, `/` for the root; nil where the request names none (PingOne's `/as/…`).
    public var realm: String?
    public var payloadSource: PayloadSource?
    /// One sentence for `explain` and the log: what decided.
    public var evidence: String
    /// It is a call of Usher's own, and no app's request.
    public var isOwn: Bool

    public init(
        action: Action?, payload: ActionPayload? = nil, realm: String? = nil, payloadSource: PayloadSource? = nil,
        evidence: String, isOwn: Bool = false
    ) {
        self.action = action
        self.payload = payload
        self.realm = realm
        self.payloadSource = payloadSource
        self.evidence = evidence
        self.isOwn = isOwn
    }

    /// What is to be said where `Classifier.begin` has nothing to say.
    public static let unknownHost = Classification(
        action: nil, evidence: "The host is no configured authorization server.")
}
