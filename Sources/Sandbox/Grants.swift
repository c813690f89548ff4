internal import HTTPCodec

/// OAuth 2.0's part of the state: codes and tokens.
struct GrantTable: Sendable {
    /// What a code or token stands for.
    struct Grant: Sendable {
        /// Shared by all tokens that come from one consent, so that they can be revoked together.
        var id: String
        var client: String
        /// Nil for client credentials.
        var user: String?
        var realm: String
        var scope: String
        /// The session's tracking id.
        var session: String?
        var nonce: String?
    }

    struct Code: Sendable {
        var grant: Grant
        var redirectURI: String
        /// `code_challenge` and whether it is a hash (RFC 7636 §4.3).
        var challenge: (text: String, hashed: Bool)?
    }

    static let accessLife = 3600

    private(set) var codes = ExpiringTable<Code>(lifetime: 120)
    private(set) var accessTokens = ExpiringTable<Grant>(lifetime: Self.accessLife)
    private(set) var refreshTokens = ExpiringTable<Grant>(lifetime: 7 * 24 * 3600)
    /// Signs id tokens.
    let secret: [UInt8]

    init(secret: [UInt8]) { self.secret = secret }

    mutating func addCode(_ code: Code, _ tokens: inout TokenSource, _ now: Int) -> String {
        let id = tokens.token()
        codes.insert(code, id: id, now: now)
        return id
    }

    /// Takes a code out: it is good for one use, whatever comes of it.
    mutating func takeCode(_ id: String, now: Int) -> Code? {
        guard let code = codes.value(id, now: now) else { return nil }
        codes.remove(id)
        return code
    }

    mutating func addAccessToken(_ grant: Grant, _ tokens: inout TokenSource, _ now: Int) -> String {
        let id = tokens.token()
        accessTokens.insert(grant, id: id, now: now)
        return id
    }

    mutating func addRefreshToken(_ grant: Grant, _ tokens: inout TokenSource, _ now: Int) -> String {
        let id = tokens.token()
        refreshTokens.insert(grant, id: id, now: now)
        return id
    }

    mutating func takeRefreshToken(_ id: String, client: String, now: Int) -> Grant? {
        guard let grant = refreshTokens.value(id, now: now), grant.client == client else { return nil }
        refreshTokens.remove(id)
        return grant
    }

    /// Ends an access token alone, or a refresh token with all that came from its consent. Tokens of other clients and
    /// unknown ones are left alone.
    mutating func revoke(_ id: String, client: String, now: Int) {
        if let grant = accessTokens.value(id, now: now), grant.client == client { accessTokens.remove(id) }
        if let grant = refreshTokens.value(id, now: now), grant.client == client {
            accessTokens.removeAll { $0.id == grant.id }
            refreshTokens.removeAll { $0.id == grant.id }
        }
    }
}
