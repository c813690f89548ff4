internal import HTTPCodec

/// An AM, a gateway and a protected resource as one state machine without sockets and clock. It contains all state, so a copy is
/// a fork of the whole world.
///
/// | Path | Server |
/// |---|---|
/// | `/am/json[/realms/root[/realms/alpha]]/authenticate`, `sessions`, `serverinfo/*`, `policies` | AM over REST |
/// | `/am/oauth2…/authorize`, `access_token`, `token/revoke`, `introspect`, `userinfo`, `connect/endSession` | AM's OAuth 2.0 |
/// | `/am/oauth2…/.well-known/openid-configuration` | its metadata |
/// | `/shop/…` | the gateway, with policies by path (`Protection`) |
/// | `/api/…` | a resource that requires an access token |
/// | `/sandbox/status` | counters |
/// | `/sandbox/admin/…` | the document, with `SandboxOptions.hasAdmin` |
/// | `/plain/…` | no gateway: pages to test proxies |
public struct SandboxServer: Sendable {
    let options: SandboxOptions
    private(set) var am: AccessManager
    private let gateway: Gateway
    private(set) var resource = ProtectedResource()

    /// - Parameter generator: the source of tokens and ids. A seeded one makes responses reproducible.
    public init(
        options: SandboxOptions = SandboxOptions(),
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.options = options
        am = AccessManager(options, TokenSource(generator))
        gateway = Gateway(options)
    }

    var document: SandboxDocument { am.directory.document }

    /// Takes another document. What has happened stays.
    mutating func adopt(_ document: SandboxDocument) { am.adopt(document) }

    /// Starts afresh, with a document.
    mutating func begin(_ document: SandboxDocument) {
        am = AccessManager(options, am.store.ids)
        am.adopt(document)
        resource = ProtectedResource()
    }

    /// Answers one request.
    /// - Parameter now: seconds since 1970.
    public mutating func handle(_ request: SandboxRequest, now: Int) -> SandboxResponse {
        guard let own = Faults(request) else {
            return .text(400, "No fault of that name.\n", note: "unknown fault")
        }
        let path = request.head.path
        if let rest = Self.rest(of: path, behind: options.basePath) { return am.answer(request, rest, own, now) }
        let isShop = Self.rest(of: path, behind: "/shop") != nil
        if isShop || Self.rest(of: path, behind: "/api") != nil {
            let faults = Faults(options.faults) + own
            var response =
                if let failure = faults.failure(of: request) {
                    failure
                } else if isShop {
                    gateway.answer(request, faults, &am, &resource, now)
                } else {
                    resource.answer(request, faults, &am.oauth, now)
                }
            response.delay = faults[.slow] ?? 0
            return response
        }
        if Self.rest(of: path, behind: "/plain") != nil { return PlainPages.answer(request) }
        if path == "/sandbox/status" { return status(request) }
        if Self.rest(of: path, behind: "/sandbox/admin") != nil { return administer(request) }
        guard path == "/" else { return .text(404, "Nothing is here.\n", note: "no such page") }
        return .text(200, greeting, note: "front page")
    }

    /// The rest of `path` after `prefix`, for whole segments only.
    private static func rest(of path: String, behind prefix: String) -> Substring? {
        guard path.hasPrefix(prefix) else { return nil }
        let rest = path.dropFirst(prefix.count)
        return rest.isEmpty || rest.hasPrefix("/") ? rest : nil
    }

    private var greeting: String {
        """
        This is Usher's sandbox: an AM, a gateway and resources, for tests.

        AM        \(options.basePath)        users demo, user1 to user\(options.directory.numbered), password changeit; realms \
        \(options.realms.joined(separator: ", "))
                  trees \(am.directory.treeNames.joined(separator: ", "))
        Gateway   /shop/…    a transaction for each access
                  /shop/with/TREE/…    a transaction that is approved with the callbacks of that tree
                  /shop/upgrade/…    a session that has passed StepUp
                  /shop/both/…    StepUp, then a transaction
                  /shop/service/TREE/…, /shop/tree/TREE/…, /shop/scheme/TREE/…    a session that has passed it
                  /shop/level/N/…, /shop/realm/NAME/…, /shop/fresh/SECONDS/…    a session with that property
                  /shop/read/…    GET and HEAD only; /shop/deny/… denied to all
                  /shop/brief/SECONDS/…    nothing; the decision is valid for that time
                  /shop/open/…    nothing
        Tokens    /api/…    an access token; /api/scope/NAME/… of that scope, /api/realm/NAME/… of that realm
        Plain     /plain/echo, /plain/bytes/N, /plain/chunked/N/SIZE, /plain/status/NNN,
                  /plain/slow/MS, /plain/close, /plain/redirect; /plain/try for browsers
        Counts    /sandbox/status
        Admin     /sandbox/admin/document, with --admin
        Faults    ?_fault=NAME or ?_fault=NAME=VALUE, at the gateway and at AM:
        \(SandboxFault.Name.allCases.map { "          \($0.rawValue): \($0.sentence)" }.joined(separator: "\n"))

        """
    }
}
