internal import Addresses
internal import Authorization
public import HTTPCodec
public import Interception

/// One compiled generation of the configuration, by which connections decide. Built once, shared by all loops.
public final class Engine: Sendable {
    public let settings: Settings
    public let classifier: Classifier
    public let plan: Plan
    /// The random source of interceptors.
    let chance: Chance
    /// The watches of the configuration's regular expressions, one each.
    private let watches: [PatternWatch]
    public let headLimits: HeadLimits
    let redaction: Redaction
    /// The policies that learn from clients' own logins.
    let learners: [AuthorizationPolicy]
    /// Whether AM must allow requests to some resource.
    let isEnforcing: Bool
    /// Whether clients of some resource step up themselves, with another form of advice.
    let isTranslating: Bool
    /// The filters that the configuration needs.
    let filters: [FilterRegistration]
    /// The pages of `usher.proxy`; nil when that is an ordinary host.
    let pages: OwnPages?

    /// This proxy's `Via` entries. Their pseudonym identifies its own requests.
    private let vias: (http10: [UInt8], http11: [UInt8], http2: [UInt8])
    let pseudonym: String

    public static let defaultPseudonym = "usher"

    /// A `Via` entry, with the version in which the message was received (RFC 9110 §7.6.3).
    public static func via(_ pseudonym: String, received version: HTTPVersion = .http11) -> [UInt8] {
        let number =
            switch version {
            case .http10: "1.0"
            case .http11: "1.1"
            case .http2: "2.0"
            }
        return Array("\(number) \(pseudonym)".utf8)
    }

    /// This proxy's `Via` entry for a message of that version.
    func via(received version: HTTPVersion) -> [UInt8] {
        switch version {
        case .http10: vias.http10
        case .http11: vias.http11
        case .http2: vias.http2
        }
    }

    /// - Parameters:
    ///   - pseudonym: this process's token in `Via`, by which it detects loops.
    ///   - pages: the pages of `usher.proxy`.
    ///   - explains: each phase reports the outcome for every interceptor.
    public convenience init(
        _ settings: Settings, pseudonym: String = Engine.defaultPseudonym, pages: OwnPages? = nil,
        explains: Bool = false, chance: Chance = Chance()
    ) {
        self.init(
            settings, pseudonym: pseudonym, pages: pages, explains: explains, chance: chance,
            filters: FilterRegistration.all)
    }

    /// The engine of a test session, whose rules, answers and tokens may differ. It shares the rest with this one.
    public func engine(of session: Settings) -> Engine {
        Engine(session, pseudonym: pseudonym, pages: pages, filters: FilterRegistration.all, sharing: self)
    }

    /// - Parameters:
    ///   - filters: the filters that requests may get.
    ///   - base: an engine of the same servers, Actions and patterns of secrets.
    init(
        _ settings: Settings, pseudonym: String = Engine.defaultPseudonym, pages: OwnPages? = nil,
        explains: Bool = false, chance: Chance = Chance(), filters: [FilterRegistration], sharing base: Engine? = nil
    ) {
        self.chance = chance
        self.pseudonym = pseudonym
        self.pages = pages
        vias = (
            Engine.via(pseudonym, received: .http10), Engine.via(pseudonym, received: .http11),
            Engine.via(pseudonym, received: .http2)
        )
        self.settings = settings
        isEnforcing = settings.authorization.contains { $0.enforcement != nil }
        isTranslating = settings.authorization.contains { $0.resources.contains { $0.translation != nil } }
        classifier = base?.classifier ?? Classifier(servers: settings.servers, definitions: settings.actions)
        self.filters = filters.filter { $0.isConfigured(settings) }
        plan = Plan(
            rules: settings.rules, chain: settings.chain, environments: settings.environments, explains: explains)
        let isAlike = base?.settings.disclosure.secrets == settings.disclosure.secrets
        redaction = isAlike ? base?.redaction ?? Redaction(settings) : Redaction(settings)
        learners = settings.authorization.filter(\.learns)
        watches = (settings.rules.flatMap(\.patterns) + settings.actions.flatMap(\.when.patterns)).map(\.watch)
        headLimits = HeadLimits(
            bytes: settings.limits.header, fields: settings.limits.headerFields, target: settings.limits.url)
    }

    /// The warnings about regular expressions that reached a limit.
    /// - Parameter now: milliseconds of the clock that all loops share.
    public func words(now: Int) -> [String] { watches.compactMap { $0.word(now: now) } }

    /// The entry of `authorization` for a request; nil when Usher leaves an advice in its response to the client.
    /// - Parameter body: the framing of the request's body.
    func stepUp(for head: RequestHead, _ body: BodyFraming) -> CoveredResource? {
        for policy in settings.authorization {
            guard let found = policy.coverage(of: head, hasBody: body != .none) else { continue }
            return CoveredResource(policy: policy, resource: found.resource, isEnforced: found.isEnforced)
        }
        return nil
    }

    /// Whether AM must allow some of the requests to that host and port.
    /// - Parameter scheme: nil for any.
    func enforces(_ scheme: Target.Scheme?, _ host: String, port: UInt16) -> Bool {
        isEnforcing && settings.authorization.contains { $0.enforces(scheme, host, port: port) }
    }

    /// The same for a port of any host, because a server may have several names.
    func enforces(port: UInt16) -> Bool {
        isEnforcing && settings.authorization.contains { $0.enforces(port: port) }
    }

    /// Whether an interceptor may respond in the origin's place, so that CONNECT succeeds without the origin. Requests in a
    /// tunnel to an IP address may name any host.
    func mayStandIn(_ host: String, port: UInt16) -> Bool {
        plan.mayStandIn(for: IPAddress(host) == nil ? host : nil, port: port)
    }

    /// Whether the request may upgrade to its protocol. Where AM must allow requests only WebSocket may: another protocol
    /// may carry requests that bypass AM, and without TLS even TLS to a host of another name.
    func mayUpgrade(_ head: borrowing RequestHead) -> Bool {
        guard head.asksForUpgrade else { return false }
        guard isEnforcing, !head.asksForWebSocket else { return true }
        if head.target.scheme == .http { return !enforces(port: head.target.port) }
        return !enforces(head.target.scheme, head.host, port: head.target.port)
    }

    /// The field that names another URL than the request's, at a host where AM must allow some requests.
    func hiddenURL(in head: RequestHead) -> String? {
        guard let field = HiddenRequest.urlField(in: head) else { return nil }
        return enforces(head.target.scheme, head.host, port: head.target.port) ? field : nil
    }

    /// The host of a tunnel that is not decrypted although AM must allow some requests in it.
    func undecidable(_ connect: RequestHead) -> String? {
        let (host, port) = (connect.host, connect.target.port)
        return enforces(.https, host, port: port) && !settings.interception.opens(host, port: port) ? host : nil
    }

    var tokens: TokenPolicy? { settings.tokens }
}
