internal import Formats
internal import HTTPCodec

/// What a path on an authorization server stands for.
struct EndpointPath: Equatable, Sendable {
    enum Resource: Equatable, Sendable {
        case endpoint(AuthorizationServer.Endpoint)
        /// One device binding of one user.
        case deviceBinding
        case wellKnown
        /// The page of AM that ends the session whose cookie it is asked with.
        case logoutPage
    }

    enum Origin: Sendable { case standard, configured, pingOne }

    var resource: Resource
    /// Realm of the path; nil where the path form knows none.
    var realm: String?
    var origin: Origin

    /// The decoded segments of a path, without the empty ones around it. Nil when more than one slash ends the path.
    static func segments(_ path: String) -> [String]? {
        // by bytes: as characters, a slash with a combining mark behind it would be no slash
        var parts = path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false).map { Substring($0) }
        if parts.first?.isEmpty == true { parts.removeFirst() }
        if parts.last?.isEmpty == true { parts.removeLast() }
        if parts.last?.isEmpty == true { return nil }
        return parts.map { PercentCoding.decode($0) }
    }

    /// Recognises one of the server's own paths: `json[/realm]/…` and `oauth2[/realm]/…` behind any context, and
    /// PingOne's `/as/…` (docs/protocol.md#actions).
    init?(_ segments: [String]) {
        for index in segments.indices {
            let resources: [([String], Resource)]
            switch segments[index] {
            case "json": resources = Self.json
            case "oauth2": resources = Self.oauth2
            default: continue
            }
            let rest = segments[(index + 1)...]
            for (suffix, resource) in resources where Self.ends(rest, suffix) {
                guard let realm = RealmPath.parse(rest.dropLast(suffix.count)) else { continue }
                self.resource = resource
                self.realm = realm
                origin = .standard
                return
            }
        }
        if segments.count >= 2, Array(segments.suffix(2)) == ["UI", "Logout"] {
            resource = .logoutPage
            origin = .standard
            return
        }
        guard let last = segments.last, segments.dropLast().last == "as", let endpoint = Self.pingOne[last] else {
            return nil
        }
        resource = .endpoint(endpoint)
        origin = .pingOne
    }

    /// A path that the configuration names; such a path says nothing of a realm, so it is the root's.
    init(configured endpoint: AuthorizationServer.Endpoint) {
        resource = .endpoint(endpoint)
        realm = "/"
        origin = .configured
    }

    private static let json: [([String], Resource)] = [
        (["authenticate"], .endpoint(.authenticate)),
        (["sessions"], .endpoint(.sessions)),
        // a session by its token
        (["sessions", "*"], .endpoint(.sessions)),
        (["push", "sns", "message"], .endpoint(.push)),
        (["users", "*", "devices", "2fa", "binding", "*"], .deviceBinding),
    ]

    private static let oauth2: [([String], Resource)] = [
        (["authorize"], .endpoint(.authorize)),
        (["par"], .endpoint(.pushedAuthorization)),
        (["access_token"], .endpoint(.accessToken)),
        (["token", "revoke"], .endpoint(.revoke)),
        (["userinfo"], .endpoint(.userInfo)),
        (["connect", "endSession"], .endpoint(.endSession)),
        (["connect", "idpEndSession"], .endpoint(.endSession)),
        ([".well-known", "openid-configuration"], .wellKnown),
    ]

    private static let pingOne: [String: AuthorizationServer.Endpoint] = [
        "authorize": .authorize, "par": .pushedAuthorization, "token": .accessToken, "revoke": .revoke,
        "userinfo": .userInfo, "signoff": .endSession,
    ]

    private static func ends(_ segments: ArraySlice<String>, _ suffix: [String]) -> Bool {
        guard segments.count >= suffix.count else { return false }
        return zip(segments.suffix(suffix.count), suffix).allSatisfy { segment, wanted in
            wanted == "*" ? !segment.isEmpty : segment == wanted
        }
    }
}
