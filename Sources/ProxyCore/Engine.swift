internal import Addresses
internal import Authorization
public import HTTPCodec
public import Interception

/// One generation of the configuration, compiled: what connections decide by. Built once, shared by all loops.
public final class Engine: Sendable {
    public let settings: Settings
    public let classifier: Classifier
    public let plan: Plan
    /// What interceptors leave to chance.
    let chance: Chance
    /// Every regular expression of the configuration, each once.
    private let watches: [PatternWatch]
    public let headLimits: HeadLimits
    let redaction: Redaction
    /// Those that want to know of clients' own logins.
    let learners: [AuthorizationPolicy]
    /// AM is asked before requests to some resource go out.
    let isEnforcing: Bool
    /// Clients of some resource step up themselves, by another form of advice.
    let isTranslating: Bool
    /// Those that the configuration has use for.
    let filters: [FilterRegistration]
    /// Nil where `usher.proxy` is a host like any other.
    let pages: OwnPages?

    /// This proxy's entries for `Via`, and the name in them by which it knows its own requests.
    private let vias: (http10: [UInt8], http11: [UInt8], http2: [UInt8])
    let pseudonym: String

    public static let defaultPseudonym = "usher"

    /// An entry for `Via`, which names the version that the message came in (RFC 9110 §7.6.3).
    public static func via(_ pseudonym: String, received version: HTTPVersion = .http11) -> [UInt8] {
        let number =
            switch version {
            case .http10: "1.0"
            case .http11: "1.1"
            case .http2: "2.0"
            }
        return Array("\(number) \(pseudonym)".utf8)
    }

    /// This proxy's entry for a message of that version.
    func via(received version: HTTPVersion) -> [UInt8] {
        switch version {
        case .http10: vias.http10
        case .http11: vias.http11
        case .http2: vias.http2
        }
    }

    /// - Parameters:
    ///   - pseudonym: names this process in `Via`, so that a request which comes back is known; a token.
    ///   - pages: what is answered for `usher.proxy`.
    ///   - explains: each phase tells how it went for every interceptor.
    public convenience init(
        _ settings: Settings, pseudonym: String = Engine.defaultPseudonym, pages: OwnPages? = nil,
        explains: Bool = false, chance: Chance = Chance()
    ) {
        self.init(
            settings, pseudonym: pseudonym, pages: pages, explains: explains, chance: chance,
            filters: FilterRegistration.all)
    }

    /// - Parameter filters: those that requests may get.
    init(
        _ settings: Settings, pseudonym: String = Engine.defaultPseudonym, pages: OwnPages? = nil,
        explains: Bool = false, chance: Chance = Chance(), filters: [FilterRegistration]
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
        classifier = Classifier(servers: settings.servers, definitions: settings.actions)
        self.filters = filters.filter { $0.isConfigured(settings) }
        plan = Plan(rules: settings.rules, chain: settings.chain, explains: explains)
        redaction = Redaction(settings)
        learners = settings.authorization.filter(\.learns)
        watches = (settings.rules.flatMap(\.patterns) + settings.actions.flatMap(\.when.patterns)).map(\.watch)
        headLimits = HeadLimits(
            bytes: settings.limits.header, fields: settings.limits.headerFields, target: settings.limits.url)
    }

    /// What has to be said of expressions that reached a limit.
    /// - Parameter now: milliseconds of the clock that all loops share.
    public func words(now: Int) -> [String] { watches.compactMap { $0.word(now: now) } }

    /// What transactional authorization means for a request; nil where advice in its answer is the client's own business.
    /// - Parameter body: how the request's body comes.
    func stepUp(for head: RequestHead, _ body: BodyFraming) -> CoveredResource? {
        for policy in settings.authorization {
            guard let found = policy.coverage(of: head, hasBody: body != .none) else { continue }
            return CoveredResource(policy: policy, resource: found.resource, isEnforced: found.isEnforced)
        }
        return nil
    }

    /// AM has to be asked about some of what may be at that place.
    /// - Parameter scheme: nil for any.
    func enforces(_ scheme: Target.Scheme?, _ host: String, port: UInt16) -> Bool {
        isEnforcing && settings.authorization.contains { $0.enforces(scheme, host, port: port) }
    }

    /// The same of what may be at that port, whatever its host is called: a server may know one by more than one name.
    func enforces(port: UInt16) -> Bool {
        isEnforcing && settings.authorization.contains { $0.enforces(port: port) }
    }

    /// An interceptor may do without the origin there, so that a tunnel is answered whoever is at its end. Behind an address
    /// requests may name any host.
    func mayStandIn(_ host: String, port: UInt16) -> Bool {
        plan.mayStandIn(for: IPAddress(host) == nil ? host : nil, port: port)
    }

    /// The request may make a tunnel of its connection, by the protocol that it asks for. Where AM is asked that is WebSocket alone:
    /// whatever else is spoken there may be requests that nobody asks about, without TLS also TLS to a host of another name.
    func mayUpgrade(_ head: borrowing RequestHead) -> Bool {
        guard head.asksForUpgrade else { return false }
        guard isEnforcing, !head.asksForWebSocket else { return true }
        if head.target.scheme == .http { return !enforces(port: head.target.port) }
        return !enforces(head.target.scheme, head.host, port: head.target.port)
    }

    /// The field by which a request names another URL than its own, at a host where AM has to be asked about some.
    func hiddenURL(in head: RequestHead) -> String? {
        guard let field = HiddenRequest.urlField(in: head) else { return nil }
        return enforces(head.target.scheme, head.host, port: head.target.port) ? field : nil
    }

    /// The host of a tunnel that is not opened, though AM has to be asked about some of what goes through it.
    func undecidable(_ connect: RequestHead) -> String? {
        let (host, port) = (connect.host, connect.target.port)
        return enforces(.https, host, port: port) && !settings.interception.opens(host, port: port) ? host : nil
    }

    var tokens: TokenPolicy? { settings.tokens }
}
