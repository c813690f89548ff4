import Authorization
import HTTPCodec
import Interception
import Observation
import ProxyCore
import Testing

/// A driver model with words for tests: what was sent is asked for piece by piece.
final class Conversation {
    let driver: DriverModel
    private var clientSeen = 0
    private var last: OriginLink?
    private var methods: [String] = []

    init(
        _ settings: Settings = Settings(), flows: (any FlowStore)? = nil, refusals: (any RefusalStore)? = nil,
        logins: (any LoginStore)? = nil, cookies: (any CookieSessionStore)? = nil,
        limits: (any LimitStore)? = nil, transactions: (any TransactionStore)? = nil,
        tokens: (any TokenStore)? = nil, sessions: SessionStores? = nil, devices: DeviceBook? = nil,
        decisions: (any DecisionStore)? = nil, pool: LinkPool = LinkPool(), delivery: Delivery = .whole,
        source: ClientSource = ClientSource(address: nil),
        share: ConnectionShare? = nil, streams: (any StreamServer)? = nil,
        testSessions: (any TestSessionStore)? = nil
    ) {
        driver = DriverModel(
            settings,
            SharedStores(
                flows: flows, refusals: refusals, logins: logins, cookies: cookies, limits: limits, state: devices,
                transactions: transactions, tokens: tokens, pushes: devices, sessions: sessions, decisions: decisions,
                testSessions: testSessions),
            pool, delivery: delivery, source: source, share: share, streams: streams)
    }

    func client(_ text: String) { client(Array(text.utf8)) }
    func client(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while case .message(let message, let used)? = try? WireReader.next(rest, answering: nil) {
            methods.append(message.method)
            rest = rest.dropFirst(used)
        }
        driver.fromClient(bytes)
    }
    func origin(_ text: String) { driver.fromOrigin(Array(text.utf8)) }
    func origin(_ bytes: [UInt8]) { driver.fromOrigin(bytes) }

    /// The connection in use, or the last that was.
    var connection: OriginLink? {
        if let now = driver.origin { last = now }
        return last
    }

    @discardableResult
    func connects() -> OriginLink? {
        last = driver.connects()
        return last
    }

    /// What the client got since it was asked last.
    func clientGot() -> String {
        let bytes = Array(driver.sent[clientSeen...])
        clientSeen = driver.sent.count
        let (text, count) = WireReader.normalized(bytes, answering: methods)
        methods.removeFirst(min(count, methods.count))
        return text
    }

    /// What the origin got on the present connection since it was asked last.
    func originGot() -> String {
        guard let connection else { return "" }
        defer { connection.seen = connection.received.count }
        return WireReader.normalized(Array(connection.received[connection.seen...]), answering: nil).text
    }

    /// One request to its answer on a fresh connection or a pooled one.
    func exchange(_ request: String, _ response: String) {
        client(request)
        if driver.dialing != nil { connects() }
        origin(response)
    }

    var record: ExchangeRecord { driver.records.last ?? ExchangeRecord() }
    var notes: [String] { record.events.map(\.value.sentence) }
    func noted(_ part: String) -> Bool { notes.contains { $0.contains(part) } }
}

extension ExchangeRecord {
    var urlText: String { String(decoding: url, as: UTF8.self) }
    var methodText: String { String(decoding: method, as: UTF8.self) }
}

/// A memory of flows for one test.
final class Flows: FlowStore {
    var payloads: [String: ActionPayload] = [:]
    func remember(authId: String, payload: ActionPayload) { payloads[authId] = payload }
    func recall(authId: String) -> ActionPayload? { payloads[authId] }
}

let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
let okForClient = "HTTP/1.1 200 OK\r\nVia: 1.1 usher\r\nContent-Length: 2\r\n\r\nok"
let get = "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"
let getForOrigin = "GET / HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\n\r\n"

func settings(_ change: (inout Settings) -> Void = { _ in }) -> Settings {
    var settings = Settings()
    change(&settings)
    return settings
}

let server = AuthorizationServer(url: "http://am.test/am", host: "am.test", realms: ["/", "/alpha"])

/// `http://shop.test/api/*` is protected; NameCallback and PasswordCallback are answered.
func stepUpSettings(_ change: (inout AuthorizationPolicy) -> Void = { _ in }) -> Settings {
    var policy = AuthorizationPolicy(resources: [.init(url: "http://shop.test/api/*")], server: server)
    policy.answers = [
        .init(callback: "NameCallback", response: .value("robot")),
        .init(callback: "PasswordCallback", response: .value("s3cret")),
    ]
    change(&policy)
    var settings = Settings()
    settings.servers = [server]
    settings.authorization = [policy]
    return settings
}
