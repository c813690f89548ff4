internal import Formats
public import HTTPCodec
public import Interception

/// Classifies requests to AM by their path (docs/protocol.md#where-am-listens).
extension AuthorizationPolicy {
    /// True for a request for policy decisions. Its response contains advice in the body form
    /// (docs/protocol.md#policy-evaluations).
    public func isPolicyEvaluation(_ head: RequestHead) -> Bool {
        guard head.method == .post, head.host == server.host, let query = head.query else { return false }
        // a second action might be the one that AM uses
        let actions = QueryText(query).values(named: "_action")
        guard actions == ["evaluate"] || actions == ["evaluateTree"], let base = URLPlace(server.url), base.holds(head)
        else { return false }
        return ServerPath(head.path)?.resource == ["policies"]
    }

    /// The realm of a policy evaluation, as a path; nil for any other request.
    public func evaluatedRealm(_ head: RequestHead) -> String? {
        guard isPolicyEvaluation(head), let path = ServerPath(head.path) else { return nil }
        if let realm = head.query.flatMap({ QueryText($0)["realm"] }) { return Realm.normalized(realm) }
        return path.realm
    }

    /// True for AM's endpoints for authentication, sessions and OAuth.
    func isOwnEndpoint(_ head: RequestHead) -> Bool {
        guard head.host == server.host else { return false }
        // in any reading of the path, because their responses have another meaning
        return !PathReading.all(of: Array(head.path.utf8)) { reading in
            !isOwnEndpoint(String(decoding: reading.applied(to: Array(head.path.utf8)), as: UTF8.self))
        }
    }

    /// True if every reading of the path is such an endpoint.
    func isSurelyOwnEndpoint(_ head: RequestHead) -> Bool {
        let path = Array(head.path.utf8)
        return head.host == server.host
            && PathReading.all(of: path) { isOwnEndpoint(String(decoding: $0.applied(to: path), as: UTF8.self)) }
    }

    private func isOwnEndpoint(_ path: String) -> Bool {
        if server.paths.values.contains(path) { return true }
        if ServerPath.segments(path).contains("oauth2") { return true }
        guard let first = ServerPath(path)?.resource.first else { return false }
        return first == "authenticate" || first == "sessions"
    }
}

/// The path of AM's JSON endpoints: context, `json`, realm, resource.
private struct ServerPath {
    var realm: String
    /// The segments after the realm, such as `["authenticate"]`.
    var resource: [String]

    /// The names that start a resource. In the old form of a path, realms precede them without a `realms` segment.
    private static let resources = ["authenticate", "sessions", "policies"]

    /// Nil for a path without `json`.
    init?(_ path: String) {
        let segments = Self.segments(path)
        guard let json = segments.firstIndex(of: "json") else { return nil }
        var rest = segments[(json + 1)...]
        var names: [String] = []
        while rest.count >= 2, rest.first == "realms" {
            names.append(rest[rest.startIndex + 1])
            rest = rest.dropFirst(2)
        }
        if names.isEmpty, let start = rest.firstIndex(where: Self.resources.contains) {
            names = Array(rest[..<start])
            rest = rest[start...]
        }
        if names.first == "root" { names.removeFirst() }
        realm = "/" + names.joined(separator: "/")
        resource = Array(rest)
    }

    /// The decoded segments. Decoding comes first because a realm may be one segment: `root%2Frealms%2Falpha`.
    static func segments(_ path: String) -> [String] {
        PercentCoding.decode(path).split(separator: "/").map { String($0) }
    }
}

/// Realms as paths.
enum Realm {
    /// `/alpha` for `alpha`, `/alpha/` and `/alpha`; `/` for all spellings of the root.
    static func normalized(_ realm: String) -> String {
        var names = realm.split(separator: "/")
        if names.first == "root" { names.removeFirst() }
        return "/" + names.joined(separator: "/")
    }

    /// `/realms/root/realms/alpha` for `/alpha` (docs/protocol.md#where-am-listens).
    static func urlPath(_ realm: String) -> String {
        let names = normalized(realm).split(separator: "/")
        return "/realms/root" + names.map { "/realms/\(PercentCoding.encode($0))" }.joined()
    }
}

extension AuthorizationServer {
    /// Whether a request goes to AM or one of its login pages, as a redirect with an advice must.
    func signsIn(at head: RequestHead) -> Bool {
        ([url] + loginPages).contains { URLPlace($0)?.holds(head) == true }
    }

    /// The configured realm with this name. AM's realm names ignore case.
    public func configuredRealm(_ name: String) -> String? {
        let wanted = Realm.normalized(name)
        return realms.first { ASCII.equal(Realm.normalized($0), wanted) }
    }

    /// The login URL of an agent.
    /// - Parameter tree: nil for the realm's default tree.
    public func agentURL(realm: String, tree: String?) -> String {
        let url = (try? authenticateURL(realm: realm)) ?? "\(url)/json\(Realm.urlPath(realm))/authenticate"
        guard let tree else { return url }
        return "\(url)?authIndexType=service&authIndexValue=\(PercentCoding.encode(tree))"
    }

    /// The URL of the authenticate endpoint in a realm.
    /// - Throws: an `HTTPFault` if `url` is no absolute URL.
    func authenticateURL(realm: String) throws(HTTPFault) -> String {
        try place(of: .authenticate, standard: "/json\(Realm.urlPath(realm))/authenticate")
    }

    /// The URL of the sessions endpoint in a realm.
    /// - Throws: an `HTTPFault` if `url` is no absolute URL.
    func sessionsURL(realm: String) throws(HTTPFault) -> String {
        try place(of: .sessions, standard: "/json\(Realm.urlPath(realm))/sessions")
    }

    /// - Parameter name: the endpoint's name below the realm.
    func oauthURL(_ endpoint: Endpoint, _ name: String, realm: String) throws(HTTPFault) -> String {
        try place(of: endpoint, standard: "/oauth2\(Realm.urlPath(realm))/\(name)")
    }

    private func place(of endpoint: Endpoint, standard: String) throws(HTTPFault) -> String {
        guard let path = paths[endpoint] else { return url + standard }
        let base = try RequestHead(method: "POST", url: url)
        let authority = base.fields.text(base.target.authority)
        return "\(base.target.scheme.name)://\(authority)\(path)"
    }
}
