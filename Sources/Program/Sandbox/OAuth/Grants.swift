/// The codes and tokens of OAuth 2.0.
struct GrantTable: Sendable {
    /// The grant behind a code or token.
    struct Grant: Sendable {
        /// The id of the consent, shared by its tokens so that they can be revoked together.
        var id: String
        var client: String
        /// Nil for client credentials.
        var user: String?
        var realm: String
        var scope: String
        /// The session's tracking id.
        var session: String?
        var nonce: String?
        /// The thumbprint of the key that the tokens are bound to (RFC 9449 §6).
        var key: String?
        /// The time the token was issued.
        var issued = 0
    }

    struct Code: Sendable {
        var grant: Grant
        var redirectURI: String
        /// The `code_challenge`, a hash (RFC 7636 §4.2).
        var challenge: String?
        var isRedeemed = false
    }

    private struct Refresh: Sendable {
        var grant: Grant
        /// True once another token has replaced it.
        var isUsed = false
    }

    /// Counters since the start.
    struct Tally: Sendable {
        var issued = 0
        var refreshed = 0
        /// Reused refresh tokens and codes. All tokens of their grants were revoked.
        var reused = 0
        var revoked = 0
    }

    private var codes = ExpiringTable<Code>(lifetime: 120)
    private var accessTokens: ExpiringTable<Grant>
    private var refreshTokens: ExpiringTable<Refresh>
    /// The consents of which a token was ended early.
    private var spoilt: ExpiringTable<Bool>
    /// Seconds.
    let accessLife: Int
    private(set) var tally = Tally()

    init(_ lives: SandboxOptions.Lives) {
        accessLife = lives.accessToken
        accessTokens = ExpiringTable(lifetime: lives.accessToken)
        refreshTokens = ExpiringTable(lifetime: lives.refreshToken)
        spoilt = ExpiringTable(lifetime: lives.refreshToken)
    }

    mutating func addCode(_ code: Code, _ tokens: inout TokenSource, _ now: Int) -> String {
        let id = tokens.token()
        codes.insert(code, id: id, now: now)
        return id
    }

    /// Redeems a code, which is valid once. A second use revokes its tokens (RFC 6749 §4.1.2).
    mutating func takeCode(_ id: String, now: Int) -> Code? {
        guard var code = codes.value(id, now: now) else { return nil }
        guard !code.isRedeemed else {
            end(code.grant)
            tally.reused += 1
            return nil
        }
        code.isRedeemed = true
        codes.replace(id, code)
        return code
    }

    /// The grant of a valid access token.
    func grant(_ token: String, now: Int) -> Grant? { accessTokens.value(token, now: now) }

    /// The grant of a valid refresh token.
    func refreshGrant(_ token: String, now: Int) -> Grant? {
        refreshTokens.value(token, now: now).flatMap { $0.isUsed ? nil : $0.grant }
    }

    mutating func addAccessToken(_ grant: Grant, _ tokens: inout TokenSource, _ now: Int) -> String {
        let id = tokens.token()
        var grant = grant
        grant.issued = now
        accessTokens.insert(grant, id: id, now: now)
        tally.issued += 1
        return id
    }

    mutating func addRefreshToken(_ grant: Grant, _ tokens: inout TokenSource, _ now: Int) -> String {
        let id = tokens.token()
        refreshTokens.insert(Refresh(grant: grant), id: id, now: now)
        return id
    }

    /// Uses a refresh token, which is then replaced. A second use means theft, so all tokens of its consent are revoked (RFC 9700
    /// §4.14.2).
    mutating func takeRefreshToken(_ id: String, client: String, key: String?, now: Int) -> Grant? {
        guard var found = refreshTokens.value(id, now: now), found.grant.client == client,
            found.grant.key == nil || found.grant.key == key
        else { return nil }
        guard !found.isUsed else {
            end(found.grant)
            tally.reused += 1
            return nil
        }
        found.isUsed = true
        refreshTokens.replace(id, found)
        tally.refreshed += 1
        return found.grant
    }

    /// Revokes an access token, or a refresh token with all tokens of its consent. Ignores unknown tokens and those of other
    /// clients.
    mutating func revoke(_ id: String, client: String, now: Int) {
        if let grant = accessTokens.value(id, now: now), grant.client == client {
            accessTokens.remove(id)
            tally.revoked += 1
        }
        if let refresh = refreshTokens.value(id, now: now), refresh.grant.client == client {
            end(refresh.grant)
            tally.revoked += 1
        }
    }

    /// Ends an access token early, only the first of each consent.
    mutating func spoil(_ token: String, now: Int) {
        guard let grant = accessTokens.value(token, now: now), spoilt.value(grant.id, now: now) == nil else { return }
        spoilt.insert(true, id: grant.id, now: now)
        accessTokens.remove(token)
    }

    private mutating func end(_ grant: Grant) {
        accessTokens.removeAll { $0.id == grant.id }
        refreshTokens.removeAll { $0.grant.id == grant.id }
    }
}
