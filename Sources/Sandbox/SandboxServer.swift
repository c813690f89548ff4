internal import HTTPCodec

/// An AM, a gateway and a protected resource as one state machine: no socket, no clock. Everything it knows is in
/// here, so a copy is a fork of the whole world.
///
/// | Path | What |
/// |---|---|
/// | `/am/json[/realms/root[/realms/alpha]]/authenticate`, `sessions`, `serverinfo/*`, `policies` | AM over REST |
/// | `/am/oauth2…/authorize`, `access_token`, `token/revoke`, `userinfo`, `connect/endSession`, `.well-known/openid-configuration` | AM's OAuth 2.0 |
/// | `/shop/…` | the gateway: one transaction for each access |
/// | `/shop/upgrade/…` | the gateway: a session that has passed the tree `StepUp` |
/// | `/shop/both/…` | the gateway: `StepUp` first, then a transaction for each access |
/// | `/shop/open/…` | the gateway lets everything through |
/// | `/plain/…` | no gateway: answers for tests of proxies |
public struct SandboxServer: Sendable {
    let options: SandboxOptions
    var tokens: TokenSource
    var sessions = SessionTable()
    var flows: FlowTable
    var transactions: TransactionTable
    var grants: GrantTable
    /// How many requests have reached the resource. Each answer carries its own number.
    var accesses = 0

    /// - Parameter generator: the source of all tokens and ids; a seeded one makes every answer repeatable.
    public init(
        options: SandboxOptions = SandboxOptions(),
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.options = options
        tokens = TokenSource(generator)
        flows = FlowTable(secret: tokens.bytes(32))
        transactions = TransactionTable(lifetime: options.transactionTTL)
        grants = GrantTable(secret: tokens.bytes(32))
    }

    /// Answers one request.
    /// - Parameter now: seconds since 1970.
    public mutating func handle(_ request: SandboxRequest, now: Int) -> SandboxResponse {
        let path = request.head.path
        if let rest = Self.rest(of: path, behind: options.basePath) { return accessManager(request, rest, now) }
        if Self.rest(of: path, behind: "/shop") != nil { return gateway(request, now) }
        if Self.rest(of: path, behind: "/plain") != nil { return plain(request) }
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
        This is Usher's sandbox: an AM, a gateway and a resource, all made up.

        AM        \(options.basePath)        users demo, user1 to user9, password changeit; realms \
        \(options.realms.joined(separator: ", "))
        Gateway   /shop/…    a transaction for each access
                  /shop/upgrade/…    a session that has passed StepUp
                  /shop/both/…    StepUp, then a transaction
                  /shop/open/…    nothing
        Plain     /plain/echo, /plain/bytes/N, /plain/chunked/N/SIZE, /plain/status/NNN,
                  /plain/slow/MS, /plain/close, /plain/redirect

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
