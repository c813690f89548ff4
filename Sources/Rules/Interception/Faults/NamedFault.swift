internal import Formats

/// What AM, a Gateway, an authorization server or the network does to an app, by name: its bytes, and what the app should do.
public struct NamedFault: Sendable {
    public let name: String
    let scope: FaultScope
    let request: [any RequestEdit]
    let response: [any ResponseEdit]
    public let sees: String
    public let remedy: String

    init(
        _ name: String, _ scope: FaultScope, request: [any RequestEdit] = [], response: [any ResponseEdit] = [],
        sees: String, remedy: String
    ) {
        self.name = name
        self.scope = scope
        self.request = request
        self.response = response
        self.sees = sees
        self.remedy = remedy
    }

    /// The exchanges that it concerns, in words.
    public var concerns: String { scope.words }
}

/// The exchanges that a fault concerns.
struct FaultScope: Sendable {
    let words: String
    let condition: Condition

    private init(_ words: String, _ condition: Condition) {
        self.words = words
        self.condition = condition
    }

    init(_ actions: Action...) {
        self.init(
            actions.map(\.rawValue).joined(separator: ", "), .test(.action, actions.map { .exact($0.rawValue) }))
    }

    static let anything = FaultScope("all requests", .always)
    static let secure = FaultScope("https", .test(.scheme, [.exact("https")]))
    static let login = FaultScope(.startAuthenticate, .authenticate)
    static let token = FaultScope(.exchangeToken, .refreshToken)
    static let server = FaultScope("all Actions", .test(.action, present))

    /// Requests without an Action, except preflights.
    static let resource = FaultScope(
        "requests without an Action",
        .all([.not(.test(.action, present)), .not(.test(.method, [.exact("OPTIONS")]))]))
    static let replay = FaultScope(
        "replays with _txid or X-TxID",
        .any([.test(.query("_txid"), present), .test(.header("X-TxID"), present)]))
    static let session = FaultScope(
        "AM, with a cookie", .all([.any([server.condition, .test(.path, [.glob("*/json/*")])]), cookie]))
    static let resourceSession = FaultScope(
        "requests without an Action, with a cookie", .all([resource.condition, cookie]))

    /// A start with an advice or a transaction.
    static let advisedStart = FaultScope(
        "START_AUTHENTICATE with an advice",
        .all([
            .test(.action, [.exact(Action.startAuthenticate.rawValue)]),
            .test(.type, [.exact("composite_advice"), .exact("transaction")]),
        ]))
    /// A poll: the step that the app returns waits for something.
    static let poll = FaultScope(
        "AUTHENTICATE with a PollingWaitCallback",
        .all([
            .test(.action, [.exact(Action.authenticate.rawValue)]),
            .any(
                (0..<4).compactMap { JSONPointer("/callbacks/\($0)/type") }.map {
                    .test(.json($0), [.exact("PollingWaitCallback")])
                }),
        ]))
    /// A step of a journey.
    static let step = FaultScope(
        "steps of journeys",
        .all(
            [login.condition, .test(.status, [.exact("200")])]
                + [JSONPointer("/authId")].compactMap { $0 }.map { .test(.responseJSON($0), present) }))
    /// The keys of an authorization server.
    static let keys = FaultScope("the JWKS", .test(.path, [.glob("*/connect/jwk_uri")]))
    static let json = FaultScope(
        "JSON of all Actions", .all([server.condition, .test(.contentType, [.exact("application/json")])]))
    static let advice = FaultScope(
        "advice",
        .any([
            .all([
                .test(.status, [.exact("401")]), .test(.responseHeader("WWW-Authenticate"), [.glob("*SSOADVICE *")]),
            ]),
            .all([
                .test(.status, [.exact("302"), .exact("307")]),
                .test(.responseHeader("Location"), [.glob("*authIndexType=composite_advice*")]),
            ]),
        ]))

    private static let present: [TextMatcher] = [.glob("*")]
    private static let cookie = Condition.test(.header("Cookie"), present)
}
