internal import Formats
public import HTTPCodec
internal import Interception
internal import TLSEngine

/// One entry of `tokens`, ready to use. A class, because each token refers to its source.
public final class TokenSource: Sendable {
    public let settings: TokenSettings
    private let patterns: [URLPattern]
    /// The fast path of each pattern; nil for globs of other kinds.
    private let reaches: [TokenReach?]
    /// A digest of all settings that a token depends on. Sources share tokens only with an equal digest, across reloads too.
    public let identity: UInt128
    /// The URL of the server.
    public let server: String
    /// The hosts, each a full name or a domain whose subdomains match.
    let hosts: [(name: [UInt8], isDomain: Bool)]

    public init(_ settings: TokenSettings) {
        self.settings = settings
        patterns = settings.resources.map(URLPattern.init)
        reaches = settings.resources.map(TokenReach.init)
        identity = Self.digest(settings)
        server = settings.server.url
        hosts = settings.resources.map(Self.host)
    }

    /// The name in the log.
    public var name: String { settings.resources.first ?? "" }

    /// A description for people.
    public var words: String {
        let client = settings.client.map { " of \($0.id)" } ?? ""
        let proof = settings.isProven ? ", bound to a key" : ""
        let main =
            switch settings.manner {
            case .learned:
                "sends the bearer token along that the client's own exchange\(client) at \(settings.server.url) won"
            case .clientCredentials: "sends a bearer token\(client) from \(settings.server.url) along\(proof)"
            case .code:
                "sends a bearer token\(client) from \(settings.server.url) along, won with the user's session\(proof)"
            }
        return main + keepingWords
    }

    private var keepingWords: String {
        let kept = settings.keeping == .sealed ? ", kept sealed over restarts" : ""
        return switch settings.revocation {
        case .never: kept
        case .atLogout: kept + ", revoked when the client signs out"
        case .atEnd: kept + ", revoked when the client signs out or Usher ends"
        }
    }

    /// The realm of its requests, one of the configured ones.
    var realm: String { Self.realm(of: settings) }

    private static func realm(of settings: TokenSettings) -> String {
        settings.realm ?? settings.server.realms.first ?? "/"
    }

    /// Whether a request may carry the token: its target and Host match a resource's host and scheme. TRACE is excluded because
    /// the response would contain the token (RFC 9110 §9.3.8), and a preflight carries no credentials.
    public func admits(_ head: RequestHead) -> Bool {
        switch head.method {
        case .trace, .connect, .options: return false
        default: break
        }
        return covers(head) && (head.hasHostOfItsTarget || head.namesItsTarget)
    }

    /// The same result as all patterns, without parsing the URL unless that is necessary.
    private func covers(_ head: RequestHead) -> Bool {
        var isClear = true
        for reach in reaches {
            switch reach?.covers(head) {
            case true?: return true
            case false?: break
            case nil: isClear = false
            }
        }
        if isClear { return false }
        let url = URLParts(head)
        return patterns.contains { $0.matches(url) }
    }

    /// Whether the grant of a client may be used.
    public func takes(_ grant: TokenGrant) -> Bool {
        if let wanted = settings.client, wanted.id != grant.client?.id { return false }
        if let wanted = settings.realm, let realm = grant.realm,
            !ASCII.equal(Realm.normalized(wanted), Realm.normalized(realm))
        {
            return false
        }
        return true
    }

    private static func host(_ glob: String) -> (name: [UInt8], isDomain: Bool) {
        let start = glob.firstRange(of: "://")?.upperBound ?? glob.startIndex
        var authority = glob[start...].prefix { $0 != "/" && $0 != "?" }
        let isDomain = authority.hasPrefix("*.")
        if isDomain { authority = authority.dropFirst() }
        let plain = (try? RequestHead(method: "GET", url: "http://\(isDomain ? "a" : "")\(authority)/"))?.host ?? ""
        return (Array(plain.utf8.dropFirst(isDomain ? 1 : 0)), isDomain)
    }

    private static func digest(_ settings: TokenSettings) -> UInt128 {
        let client = settings.client
        // a learned token may be of any realm
        let realm = settings.manner == .learned ? settings.realm ?? "" : Self.realm(of: settings)
        let parts: [String] =
            [
                settings.manner.rawValue, settings.server.url, settings.server.cookie, realm,
                client?.id ?? "", client?.secret ?? "", client?.authentication.rawValue ?? "", settings.scope ?? "",
                settings.redirectURI, settings.naming.text, settings.isProven ? "dpop" : "",
            ] + settings.resources
        // with lengths, so that different lists never give the same text
        return TokenDigest.of(parts.map { "\($0.utf8.count):\($0)" }.joined())
    }
}

extension TokenSource: Hashable {
    public static func == (left: TokenSource, right: TokenSource) -> Bool { left.identity == right.identity }
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// Digests of table keys that may be secrets.
public enum TokenDigest {
    public static func of(_ text: String) -> UInt128 { of(Array(text.utf8)) }

    public static func of(_ bytes: [UInt8]) -> UInt128 {
        Digest.sha256(bytes).prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
    }
}

extension RequestHead {
    /// True if Host names the same origin as the target. Behind a shared front end, Host decides which server receives the
    /// request.
    fileprivate var namesItsTarget: Bool {
        let authority = fields.text(target.authority)
        return fields.values(named: "Host").allSatisfy { value in
            if value == authority { return true }
            var named = self
            guard (try? named.adopt(authority: value, scheme: target.scheme)) != nil else { return false }
            return named.host == host && named.target.port == target.port
        }
    }
}
