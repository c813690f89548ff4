public import Interception

/// One entry of `tokens:` as it is written.
public struct TokenSettings: Sendable {
    /// Where the tokens come from.
    public enum Manner: String, CaseIterable, Sendable {
        /// From exchanges that clients make themselves.
        case learned
        case clientCredentials = "client_credentials"
        /// From the code flow, run with the user's session.
        case code
    }

    /// What tells one client from another.
    public enum Naming: Equatable, Sendable {
        case proxyUser, address
        case header(String)
    }

    public enum Consent: String, CaseIterable, Sendable {
        /// A page that asks the user ends the flow.
        case deny
        case allow
    }

    /// What outlives the process.
    public enum Keeping: String, CaseIterable, Sendable {
        case memory
        /// In the state directory.
        case sealed
    }

    /// When AM is told that nobody has use for a token any more (RFC 7009).
    public enum Revocation: String, CaseIterable, Sendable {
        case never
        /// The client signs out.
        case atLogout = "at_logout"
        /// And the process ends.
        case atEnd = "at_end"
    }

    /// Globs over whole URLs, each with its scheme and a host.
    public var resources: [String]
    public var manner: Manner
    public var server: AuthorizationServer
    /// Nil for any, of what is learned, and for the server's first.
    public var realm: String?
    /// Nil where clients show their own.
    public var client: OAuthClient?
    public var scope: String?
    public var redirectURI = ""
    public var consent = Consent.deny
    public var naming = Naming.address
    /// A token that lasts no longer than so many seconds is replaced before it is sent.
    public var refreshBefore = 30
    /// Statuses that say that a token is good no more.
    public var refreshOn = [401]
    /// Tokens are bound to a key (RFC 9449).
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
    /// `proxy_user`, `address` or `header:NAME`; nil for anything else.
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
