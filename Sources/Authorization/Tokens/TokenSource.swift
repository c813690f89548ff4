internal import Addresses
internal import Formats
public import HTTPCodec
internal import Interception
internal import TLSEngine

/// One entry of `tokens:`, ready to use. An object, for every token that it wins is known by it.
public final class TokenSource: Sendable {
    public let settings: TokenSettings
    private let patterns: [URLPattern]
    /// The same, as far as they are of the ordinary kind.
    private let reaches: [TokenReach?]
    /// A digest over all that a token depends on: what has another one shares no token with it, over reloads too.
    public let identity: UInt128
    /// The URL of the server.
    public let server: String
    /// Hosts, each whole or as the domain that they are below.
    let hosts: [(name: [UInt8], isDomain: Bool)]

    public init(_ settings: TokenSettings) {
        self.settings = settings
        patterns = settings.resources.map(URLPattern.init)
        reaches = settings.resources.map(TokenReach.init)
        identity = Self.digest(settings)
        server = settings.server.url
        hosts = settings.resources.map(Self.host)
    }

    /// What it is called in the log.
    public var name: String { settings.resources.first ?? "" }

    /// What it does, for a person.
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

    /// Where it asks, one of the configured realms.
    var realm: String { Self.realm(of: settings) }

    private static func realm(of settings: TokenSettings) -> String {
        settings.realm ?? settings.server.realms.first ?? "/"
    }

    /// Whether a request may carry its token, as it would go out: to a host that a resource names, by the scheme that it
    /// names, and to nobody else by its Host. What comes back with the answer to a TRACE is shown to nobody
    /// (RFC 9110 §9.3.8), and a preflight has no credentials.
    public func admits(_ head: RequestHead) -> Bool {
        switch head.method {
        case .trace, .connect, .options: return false
        default: break
        }
        return covers(head) && (head.hasHostOfItsTarget || head.namesItsTarget)
    }

    /// As every one of its patterns would say; taking the URL apart for them is what costs.
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

    /// Whether what a client was granted may go along.
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
        // what is learned may be of any realm
        let realm = settings.manner == .learned ? settings.realm ?? "" : Self.realm(of: settings)
        let parts: [String] =
            [
                settings.manner.rawValue, settings.server.url, settings.server.cookie, realm,
                client?.id ?? "", client?.secret ?? "", client?.authentication.rawValue ?? "", settings.scope ?? "",
                settings.redirectURI, settings.naming.text, settings.isProven ? "dpop" : "",
            ] + settings.resources
        // each with its length, so that no two lists of texts look alike
        return TokenDigest.of(parts.map { "\($0.utf8.count):\($0)" }.joined())
    }
}

extension TokenSource: Hashable {
    public static func == (left: TokenSource, right: TokenSource) -> Bool { left.identity == right.identity }
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// Texts that tables are kept by and that may be secrets.
public enum TokenDigest {
    public static func of(_ text: String) -> UInt128 {
        Digest.sha256(Array(text.utf8)).prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
    }
}

extension RequestHead {
    /// Its Host names no other origin than its target: behind a shared front end it is that field that decides.
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
