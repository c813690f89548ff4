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
        /// The thumbprint of the key that its tokens are bound to (RFC 9449 §6).
        var key: String?
        /// When this token was made.
        var issued = 0
    }

    struct Code: Sendable {
        var grant: Grant
        var redirectURI: String
        /// `code_challenge`, a hash (RFC 7636 §4.2).
        var challenge: String?
        var isRedeemed = false
    }

    private struct Refresh: Sendable {
        var grant: Grant
        /// Another one was given in its place.
        var isUsed = false
    }

    /// How many there were of each, since the beginning.
    struct Tally: Sendable {
        var issued = 0
        var refreshed = 0
        /// Refresh tokens and codes that came a second time: all that came of them ended.
        var reused = 0
        var revoked = 0
    }

    private var codes = ExpiringTable<Code>(lifetime: 120)
    private var accessTokens: ExpiringTable<Grant>
    private var refreshTokens: ExpiringTable<Refresh>
    /// The consents of which a token was ended before its time.
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

    /// Takes a code: it is good for one use, whatever comes of it. One that comes again ends what came of it
    /// (RFC 6749 §4.1.2).
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

    /// What a living access token stands for.
    func grant(_ token: String, now: Int) -> Grant? { accessTokens.value(token, now: now) }

    /// What a living refresh token stands for.
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

    /// Takes a refresh token, for which another one is given. One that comes again was stolen from somebody: all that
    /// came from its consent ends (RFC 9700 §4.14.2).
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

    /// Ends an access token alone, or a refresh token with all that came from its consent. Tokens of other clients and
    /// unknown ones are left alone.
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

    /// Ends an access token before its time, the first one of a consent alone.
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
