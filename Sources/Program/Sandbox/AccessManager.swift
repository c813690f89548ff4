internal import Formats
internal import HTTPCodec

/// The state that AM's endpoints and the gateway share: sessions, transactions, and the generator of ids.
struct CoreTokenStore: Sendable {
    var ids: TokenSource
    var sessions: SessionTable
    var transactions: TransactionTable

    init(_ options: SandboxOptions, _ ids: TokenSource) {
        self.ids = ids
        sessions = SessionTable(options)
        transactions = TransactionTable(lifetime: options.lives.transaction, usual: options.strategy)
    }
}

/// The front of AM: realms, versions, and the rules of all REST endpoints.
struct AccessManager: Sendable {
    private static let jsonEndpoints: Set<String> = ["authenticate", "sessions", "serverinfo", "policies", "push"]
    private static let oauthEndpoints: Set<String> = [
        "authorize", "access_token", "introspect", "token", "userinfo", "connect", ".well-known",
    ]

    /// The highest minor of each major version of an endpoint's resource.
    private static let versions: [String: [Int: Int]] = [
        "authenticate": [1: 2, 2: 1], "sessions": [1: 2, 2: 1, 3: 1, 4: 0, 5: 1], "serverinfo": [1: 1],
        "policies": [1: 0, 2: 1], "push": [1: 0],
    ]

    private let options: SandboxOptions
    var store: CoreTokenStore
    private var authentication: AuthenticateEndpoint
    var oauth: AuthorizationServer
    private(set) var directory: Directory
    /// The faults for the next step-up of a transaction or session.
    private var brought = ExpiringTable<Faults>(lifetime: JourneyTable.lifetime)

    init(_ options: SandboxOptions, _ ids: TokenSource) {
        var ids = ids
        self.options = options
        directory = options.known
        authentication = AuthenticateEndpoint(options, secret: ids.bytes(32))
        oauth = AuthorizationServer(options, secret: ids.bytes(32))
        store = CoreTokenStore(options, ids)
        adopt(directory.document)
    }

    /// Takes another document. Sessions, tokens and lockouts stay.
    mutating func adopt(_ document: SandboxDocument) {
        directory.document = document
        authentication.identities.directory = directory
        authentication.identities.lockouts.limit = document.lockout?.limit ?? options.lockout
        authentication.identities.lockouts.hold = document.lockout?.hold ?? options.lives.lockout
        oauth.directory = directory
    }

    /// - Parameters:
    /// - rest: the path below AM's context.
    /// - own: the faults in the request's own query.
    mutating func answer(_ request: SandboxRequest, _ rest: Substring, _ own: Faults, _ now: Int) -> SandboxResponse {
        let faults = faults(of: request, own.ofServer, now)
        var response = faults.serverFailure(of: request) ?? route(request, rest, faults, now)
        response.delay = faults[.amSlow] ?? 0
        return response
    }

    private mutating func route(
        _ request: SandboxRequest, _ rest: Substring, _ faults: Faults, _ now: Int
    ) -> SandboxResponse {
        let segments = rest.split(separator: "/").map { PercentCoding.decode($0) }
        switch segments.first {
        case "json":
            guard let route = RealmRoute(segments.dropFirst(), query: request.query, endpoints: Self.jsonEndpoints)
            else { return .notFound(request, note: "no such endpoint") }
            return json(request, route, faults, now)
        case "oauth2":
            guard let route = RealmRoute(segments.dropFirst(), query: request.query, endpoints: Self.oauthEndpoints),
                options.realms.contains(route.realm)
            else { return .notFound(request, note: "no such endpoint or realm") }
            return oauth.answer(request, route, &store, now)
        case nil, "XUI", "UI", "console":
            return signInPage(request)
        default:
            return .notFound(request, note: "there is no such page in AM")
        }
    }

    private mutating func json(
        _ request: SandboxRequest, _ route: RealmRoute, _ faults: Faults, _ now: Int
    ) -> SandboxResponse {
        let endpoint = route.rest[0]
        if let refusal = forgeryCheck(request) { return refusal }
        let version: ResourceVersion
        switch ResourceVersion.negotiate(request.head.fields["Accept-API-Version"], Self.versions[endpoint] ?? [:]) {
        case .success(let agreed): version = agreed
        case .failure(let fault): return .fault(fault.status, fault.message)
        }
        let call = RESTCall(request: request, route: route, version: version, faults: faults, now: now)
        guard options.realms.contains(route.realm) else {
            return endpoint == "authenticate"
                ? call.loginFailure(400, "Invalid realm", errorCode: "108", note: "no such realm")
                : .fault(404, "Realm '\(route.realm)' not found", note: "no such realm")
        }
        var response =
            switch endpoint {
            case "authenticate": authentication.answer(call, &store)
            case "sessions": SessionsEndpoint.answer(call, &store.sessions)
            case "push": PushEndpoint.answer(call, &authentication.identities.devices)
            case "policies": PoliciesEndpoint(directory: directory).answer(call, &store, oauth)
            default: serverInfo(call)
            }
        response.fields += [
            ("Content-API-Version", "protocol=1.0,resource=\(version.major).\(version.minor)"),
            ("Cache-Control", "no-cache, no-store, must-revalidate"), ("Pragma", "no-cache"), ("Expires", "0"),
        ]
        return response
    }

    /// CSRF check: a state-changing call with the session cookie needs a field that forms of other sites cannot set.
    private func forgeryCheck(_ request: SandboxRequest) -> SandboxResponse? {
        guard !request.reads, request.head.method != .options, request.cookie(options.cookieName) != nil,
            request.head.fields["X-Requested-With"] == nil, request.head.fields["Accept-API-Version"] == nil
        else { return nil }
        return .fault(403, "Forbidden", note: "session cookie without X-Requested-With or Accept-API-Version")
    }

    private func serverInfo(_ call: RESTCall) -> SandboxResponse {
        guard call.request.reads else { return .methodNotAllowed("GET") }
        let info: JSONValue = [
            "_id": "*", "domains": [],
            "cookieName": .string(options.cookieName), "secureCookie": false, "lang": "en-US",
            "realm": .string(call.realm),
        ]
        return .json(200, info, note: "server information")
    }

    /// The page at the end of redirects to sign in. It explains the REST login.
    private func signInPage(_ request: SandboxRequest) -> SandboxResponse {
        guard request.reads else { return .methodNotAllowed("GET") }
        let page = """
            <!DOCTYPE html>
            <html lang="en"><title>Sign in</title>
            <p>The sandbox has no sign-in pages. Ask for a session over REST:</p>
            <pre>curl -X POST -H 'X-OpenAM-Username: demo' -H 'X-OpenAM-Password: changeit' \
            \(MarkupText.escaped(request.amURL(options)))/json/realms/root/authenticate</pre>
            </html>

            """
        return .html(page, note: "sign-in page")
    }

    // MARK: faults

    /// All faults of a request: the configured ones, its own, and those of the request that caused it.
    private mutating func faults(of request: SandboxRequest, _ own: Faults, _ now: Int) -> Faults {
        let faults = Faults(options.faults).ofServer + own
        guard request.head.path.hasSuffix("/authenticate") else { return faults }
        if let id = JourneyTable.journeyId(of: request) { return faults + authentication.faults(of: id, now: now) }
        let key = CompositeAdvice.transactionId(of: request) ?? store.sessions.cookie.token(of: request)
        return faults + (key.flatMap { brought.remove($0) } ?? Faults())
    }

    /// Stores a request's faults for its step-up at AM.
    mutating func bring(_ faults: Faults, by advice: CompositeAdvice, of session: Session, _ now: Int) {
        let ofServer = faults.ofServer
        guard !ofServer.isEmpty else { return }
        let key = advice.first(CompositeAdvice.transaction) ?? session.token
        brought.remove(key)
        brought.insert(ofServer, id: key, now: now)
    }
}
