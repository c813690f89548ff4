internal import Formats

/// The meaning of a path on an authorization server.
struct EndpointPath: Equatable, Sendable {
    enum Resource: Equatable, Sendable {
        case endpoint(AuthorizationServer.Endpoint)
        /// One device binding of a user.
        case deviceBinding
        case wellKnown
        /// AM's page that ends the session of the cookie that it receives.
        case logoutPage
    }

    enum Origin: Sendable { case standard, configured, pingOne }

    var resource: Resource
    /// The realm in the path; nil if this form of path has none.
    var realm: String?
    var origin: Origin

    /// The decoded segments of a path, without leading and trailing empty ones. Nil if the path ends in more than one slash.
    static func segments(_ path: String) -> [String]? {
        // split by bytes: as characters, a slash followed by a combining mark is no slash
        var parts = path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false).map { Substring($0) }
        if parts.first?.isEmpty == true { parts.removeFirst() }
        if parts.last?.isEmpty == true { parts.removeLast() }
        if parts.last?.isEmpty == true { return nil }
        return parts.map { PercentCoding.decode($0) }
    }

    /// Recognises the server's standard paths: `json[/realm]/…` and `oauth2[/realm]/…` after any context, and PingOne's `/as/…`
    /// (docs/protocol.md#actions).
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

    /// A configured path. It names no realm, so it belongs to the root realm.
    init(configured endpoint: AuthorizationServer.Endpoint) {
        resource = .endpoint(endpoint)
        realm = "/"
        origin = .configured
    }

    private static let json: [([String], Resource)] = [
        (["authenticate"], .endpoint(.authenticate)),
        (["sessions"], .endpoint(.sessions)),
        // a session addressed by its token
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
