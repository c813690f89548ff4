internal import HTTPCodec

/// An AM, a gateway and a protected resource as one state machine: no socket, no clock. Everything it knows is in
/// here, so a copy is a fork of the whole world.
///
/// | Path | What |
/// |---|---|
/// | `/am/json[/realms/root[/realms/alpha]]/authenticate`, `sessions`, `serverinfo/*`, `policies` | AM over REST |
/// | `/am/oauth2…/authorize`, `access_token`, `token/revoke`, `introspect`, `userinfo`, `connect/endSession`, `.well-known/openid-configuration` | AM's OAuth 2.0 |
/// | `/shop/…` | the gateway, with policies by path (`Protection`) |
/// | `/api/…` | a resource that wants an access token |
/// | `/sandbox/status` | counts of what has happened |
/// | `/plain/…` | no gateway: answers for tests of proxies |
public struct SandboxServer: Sendable {
    let options: SandboxOptions
    var tokens: TokenSource
    var sessions: SessionTable
    var flows: FlowTable
    /// The flows that are put aside, by what their mailed links carry.
    var suspended = ExpiringTable<String>(lifetime: FlowTable.lifetime)
    /// Sent since the last answer.
    var mails: [Mail] = []
    /// Second factors of the users, and what is asked of them.
    var devices = DeviceRegister()
    /// To be delivered since the last answer: what a push service would get.
    var pushes: [[UInt8]] = []
    /// The newest one-time password of each user, by its counter.
    var usedCodes: [String: Int] = [:]
    var locks: Lockouts
    /// What AM is to do wrong when a step-up comes there, by its transaction or its session.
    var brought = ExpiringTable<Faults>(lifetime: FlowTable.lifetime)
    var transactions: TransactionTable
    var grants: GrantTable
    /// How many requests have reached the resource. Each answer carries its own number.
    var accesses = 0
    /// How many of them were whose.
    var users: [String: Int] = [:]

    /// - Parameter generator: the source of all tokens and ids; a seeded one makes every answer repeatable.
    public init(
        options: SandboxOptions = SandboxOptions(),
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.options = options
        tokens = TokenSource(generator)
        sessions = SessionTable(maxLife: options.lives.session, maxIdle: options.lives.sessionIdle)
        locks = Lockouts(limit: options.lockout, hold: options.lives.lockout)
        flows = FlowTable(secret: tokens.bytes(32))
        transactions = TransactionTable(lifetime: options.lives.transaction)
        grants = GrantTable(secret: tokens.bytes(32), lives: options.lives)
    }

    /// Answers one request.
    /// - Parameter now: seconds since 1970.
    public mutating func handle(_ request: SandboxRequest, now: Int) -> SandboxResponse {
        var response: SandboxResponse
        if let own = Faults(request) {
            response = answer(request, own, now)
        } else {
            response = .text(400, "No fault of that name.\n", note: "a fault that the sandbox does not know")
        }
        response.mails = mails.map { "mail to \($0.user): \(amURL(request))/XUI/?\($0.query)" }
        mails = []
        return response
    }

    /// - Parameter own: the faults that the request sets for itself.
    private mutating func answer(_ request: SandboxRequest, _ own: Faults, _ now: Int) -> SandboxResponse {
        let path = request.head.path
        if let rest = Self.rest(of: path, behind: options.basePath) {
            let faults = serverFaults(request, own, now)
            var response = serverFailure(request, faults) ?? accessManager(request, rest, faults, now)
            response.delay = faults[.amSlow] ?? 0
            return response
        }
        let isShop = Self.rest(of: path, behind: "/shop") != nil
        if isShop || Self.rest(of: path, behind: "/api") != nil {
            let faults = Faults(options.faults) + own
            var response =
                failure(request, faults)
                ?? (isShop ? gateway(request, faults, now) : tokenResource(request, faults, now))
            response.delay = faults[.slow] ?? 0
            return response
        }
        if Self.rest(of: path, behind: "/plain") != nil { return plain(request) }
        if path == "/sandbox/status" { return status(request, now) }
        guard path == "/" else { return .text(404, "Nothing is here.\n", note: "no such page") }
        return .text(200, greeting, note: "the front page")
    }

    /// What follows `prefix` in `path`, whole segments only.
    private static func rest(of path: String, behind prefix: String) -> Substring? {
        guard path.hasPrefix(prefix) else { return nil }
        let rest = path.dropFirst(prefix.count)
        return rest.isEmpty || rest.hasPrefix("/") ? rest : nil
    }

    private var greeting: String {
        """
        This is Usher's sandbox: an AM, a gateway and resources, all made up.

        AM        \(options.basePath)        users demo, user1 to user\(options.directory.numbered), password changeit; realms \
        \(options.realms.joined(separator: ", "))
                  trees \(Trees.names.joined(separator: ", "))
        Gateway   /shop/…    a transaction for each access
                  /shop/with/TREE/…    a transaction whose approval asks what that tree asks
                  /shop/upgrade/…    a session that has passed StepUp
                  /shop/both/…    StepUp, then a transaction
                  /shop/service/TREE/…, /shop/tree/TREE/…, /shop/scheme/TREE/…    a session that has passed it
                  /shop/level/N/…, /shop/realm/NAME/…, /shop/fresh/SECONDS/…    such a session
                  /shop/read/…    to be read alone; /shop/deny/… nobody
                  /shop/brief/SECONDS/…    nothing; the decision holds for so long
                  /shop/open/…    nothing
        Tokens    /api/…    an access token; /api/scope/NAME/… of that scope, /api/realm/NAME/… of that realm
        Plain     /plain/echo, /plain/bytes/N, /plain/chunked/N/SIZE, /plain/status/NNN,
                  /plain/slow/MS, /plain/close, /plain/redirect; /plain/try for browsers
        Counts    /sandbox/status
        Faults    ?_fault=NAME or ?_fault=NAME=VALUE, at the gateway and at AM:
        \(SandboxFault.Name.allCases.map { "          \($0.rawValue): \($0.sentence)" }.joined(separator: "\n"))

        """
    }

    // MARK: what the endpoints share

    /// The session that a request carries: in the cookie, else in the header named like it.
    func session(of request: SandboxRequest, _ now: Int) -> Session? {
        sessionToken(of: request).flatMap { sessions.find($0, now: now) }
    }

    func sessionToken(of request: SandboxRequest) -> String? {
        request.cookie(options.cookieName) ?? request.head.fields[options.cookieName]
    }

    /// AM as the gateway names it: `am.localhost` for a request to any name under `.localhost`, else the host that was
    /// asked.
    func amURL(_ request: SandboxRequest) -> String {
        if let url = options.amURL { return url }
        guard request.head.host.hasSuffix(".localhost") else { return request.origin + options.basePath }
        return "\(request.head.target.scheme.name)://am.localhost:\(request.head.target.port)\(options.basePath)"
    }

    /// `name=token; Path=/[; Domain=…]`, or the line that deletes the cookie.
    func sessionCookie(_ token: String?) -> (name: String, value: String) {
        var line = "\(options.cookieName)=\(token ?? ""); Path=/"
        if let domain = options.cookieDomain { line += "; Domain=\(domain)" }
        if token == nil { line += "; Expires=Thu, 01 Jan 1970 00:00:00 GMT" }
        return ("Set-Cookie", line)
    }

    /// The first eight characters of an id: enough to follow a story, too few to use.
    static func short(_ id: String) -> String { String(id.prefix(8)) + "…" }
}
