public import TLSEngine

/// What the token endpoint granted.
public struct TokenGrant: Sendable {
    /// How it was had.
    public enum Origin: String, Sendable { case fetched, refreshed, learned }

    public var access: String
    public var refresh: String?
    /// Seconds since 1970; nil where nothing tells.
    public var expires: Int?
    /// How many seconds it had when it was granted.
    public var lifetime: Int?
    public var origin: Origin
    /// Whose it is, where clients show their own.
    public var client: OAuthClient?
    /// The realm that it is of, where it was learned.
    public var realm: String?
    /// The key that it is bound to (RFC 9449).
    public var key: PrivateKey?
    /// What resources want to see in the next proof, and what AM does.
    public var resourceNonces = OriginNonces()
    public var serverNonce: String?

    public init(access: String, refresh: String? = nil, expires: Int? = nil, origin: Origin = .fetched) {
        self.access = access
        self.refresh = refresh
        self.expires = expires
        self.origin = origin
    }

    /// From when on it is replaced while it lasts; nil where nothing tells its end.
    /// - Parameter lead: what of its life is left then; half of it at the most.
    public func dueAt(before lead: Int) -> Int? {
        guard let expires, let lifetime else { return nil }
        // one that lasts no longer than the lead is not fetched anew for each request
        return expires - min(lead, lifetime / 2)
    }
}
