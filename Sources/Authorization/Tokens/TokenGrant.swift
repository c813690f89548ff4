public import TLSEngine

/// What the token endpoint granted.
public struct TokenGrant: Sendable {
    /// How it was had.
    public enum Origin: String, Sendable { case fetched, refreshed, learned }

    public var access: String
    public var refresh: String?
    /// Digests of refresh tokens that this one took the place of: a client may still have them.
    private(set) var spent: [UInt128] = []
    /// Seconds since 1970; nil where nothing tells.
    public var expires: Int?
    /// From when on it is replaced while it lasts.
    public var dueAt: Int?
    public var origin: Origin
    /// Whose it is, where clients show their own.
    public var client: OAuthClient?
    /// The realm that it is of, where it was learned.
    public var realm: String?
    /// The key that it is bound to (RFC 9449).
    public var key: PrivateKey?
    /// What the resource wants to see in the next proof, and what AM does.
    public var resourceNonce: String?
    public var serverNonce: String?

    public init(access: String, refresh: String? = nil, expires: Int? = nil, origin: Origin = .fetched) {
        self.access = access
        self.refresh = refresh
        self.expires = expires
        self.origin = origin
    }

    private static let mostSpent = 8

    /// This was had with the refresh token of another one.
    mutating func follow(_ past: TokenGrant) {
        guard let old = past.refresh, old != refresh else { return spent = past.spent }
        spent = past.spent.suffix(Self.mostSpent - 1) + [TokenDigest.of(old)]
    }
}
