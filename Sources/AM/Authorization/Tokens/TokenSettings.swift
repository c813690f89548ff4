public import Interception

/// One entry of `tokens` as configured.
public struct TokenSettings: Sendable {
    /// The origin of the tokens.
    public enum Manner: String, CaseIterable, Sendable {
        /// From clients' own exchanges.
        case learned
        case clientCredentials = "client_credentials"
        /// From the code flow with the user's session.
        case code
    }

    /// The feature by which clients are distinguished.
    public enum Naming: Equatable, Sendable {
        case proxyUser, address
        case header(String)
    }

    public enum Consent: String, CaseIterable, Sendable {
        /// A consent page ends the flow.
        case deny
        case allow
    }

    /// The storage of tokens.
    public enum Keeping: String, CaseIterable, Sendable {
        case memory
        /// Encrypted in the state directory.
        case sealed
    }

    /// The time at which unused tokens are revoked at AM (RFC 7009).
    public enum Revocation: String, CaseIterable, Sendable {
        case never
        /// When the client signs out.
        case atLogout = "at_logout"
        /// Also when the process ends.
        case atEnd = "at_end"
    }

    /// Globs for whole URLs, each with a scheme and a host.
    public var resources: [String]
    public var manner: Manner
    public var server: AuthorizationServer
    /// Nil for any realm of learned tokens, else for the server's first realm.
    public var realm: String?
    /// Nil if clients show their own.
    public var client: OAuthClient?
    public var scope: String?
    public var redirectURI = ""
    public var consent = Consent.deny
    public var naming = Naming.address
    /// A token is replaced before use if it expires within this many seconds.
    public var refreshBefore = 30
    /// The statuses that mean an invalid token.
    public var refreshOn = [401]
    /// True to bind tokens to a key (DPoP, RFC 9449).
    public var isProven = false
    public var keeping = Keeping.memory
    public var revocation = Revocation.never
    /// Pages of other sites whose requests get tokens.
    public var origins = PageOrigins()
    public var hold = 30_000
    public var coolDown = 60_000

    public init(resources: [String], manner: Manner, server: AuthorizationServer) {
        self.resources = resources
        self.manner = manner
        self.server = server
    }
}

extension TokenSettings.Naming {
    /// Reads `proxy_user`, `address` or `header:NAME`; nil for anything else.
    public init?(_ text: String) {
        switch text {
        case "proxy_user": self = .proxyUser
        case "address": self = .address
        default:
            guard text.hasPrefix("header:") else { return nil }
            self = .header(String(text.dropFirst("header:".count)))
        }
    }

    var text: String {
        switch self {
        case .proxyUser: "proxy_user"
        case .address: "address"
        case .header(let name): "header:\(name)"
        }
    }
}
