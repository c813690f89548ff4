/// The meaning of a request to AM (docs/protocol.md#actions). An open set: the names of the legacy SDKs, of newer SDKs, and those
/// that a configuration defines.
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

    /// Actions of Usher's own calls. No request of an app is classified as one of them.
    static let own: Set<Action> = [.sessionLogin, .identityToken, .sessionInfo, .evaluatePolicy]

    public static let known: [Action] = [
        .startAuthenticate, .authenticate, .resumeAuthenticate, .authorize, .exchangeToken, .refreshToken,
        .revokeToken, .logout, .userInfo, .endSession, .pushRegister, .pushAuthenticate, .pushUpdate,
        .deleteBinding, .wellKnown, .pushedAuthorization, .sessionLogin, .identityToken, .sessionInfo,
        .evaluatePolicy,
    ]

    /// The newer JavaScript SDK's names for the same calls (docs/protocol.md#actions).
    public static let aliases: [String: Action] = [
        "JOURNEY_START": .startAuthenticate,
        "JOURNEY_NEXT": .authenticate,
        "JOURNEY_TERMINATE": .logout,
        "TOKEN_EXCHANGE": .exchangeToken,
        "REVOKE": .revokeToken,
    ]

    /// Resolves aliases; any other name is used as it is.
    public init(named name: String) { self = Action.aliases[name] ?? Action(rawValue: name) }
}

/// The payload of START_AUTHENTICATE and AUTHENTICATE: the tree and how it was started.
public struct ActionPayload: Equatable, Sendable {
    /// The tree's name; in a step-up, the decoded advice document; nil for the realm's default tree.
    public var tree: String?
    /// `service`, `composite_advice` or another `authIndexType` of AM; nil if unknown.
    public var type: String?

    public init(tree: String?, type: String?) {
        self.tree = tree
        self.type = type
    }
}

/// The classification of a request, with the evidence for it.
public struct Classification: Equatable, Sendable {
    /// The source of tree and type.
    public enum PayloadSource: String, Sendable { case query, `default`, authId, state, unknown }

    public var action: Action?
    public var payload: ActionPayload?
    /// The realm as a path, `/` for the root; nil if the request names none (PingOne's `/as/…`).
    public var realm: String?
    public var payloadSource: PayloadSource?
    /// The reason for the classification, in one sentence for `explain` and the log.
    public var evidence: String
    /// True for a call that Usher makes itself.
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

    /// The classification of a host for which `Classifier.begin` returns none.
    public static let unknownHost = Classification(
        action: nil, evidence: "The host is not a configured authorization server.")
}
