public import TLSEngine

/// A grant of the token endpoint.
public struct TokenGrant: Sendable {
    /// The way in which it was obtained.
    public enum Origin: String, Sendable { case fetched, refreshed, learned }

    public var access: String
    public var refresh: String?
    /// Seconds since 1970; nil if unknown.
    public var expires: Int?
    /// The lifetime at the time of the grant, in seconds.
    public var lifetime: Int?
    public var origin: Origin
    /// The client of the token, if clients show their own.
    public var client: OAuthClient?
    /// The realm, if the grant was learned.
    public var realm: String?
    /// The key that it is bound to (RFC 9449).
    public var key: PrivateKey?
    /// The DPoP nonces of resource servers and of AM.
    public var resourceNonces = OriginNonces()
    public var serverNonce: String?

    public init(access: String, refresh: String? = nil, expires: Int? = nil, origin: Origin = .fetched) {
        self.access = access
        self.refresh = refresh
        self.expires = expires
        self.origin = origin
    }

    /// The time to replace the token before it expires; nil if its end is unknown.
    /// - Parameter lead: the rest of its life then, in seconds; at most half of it.
    public func dueAt(before lead: Int) -> Int? {
        guard let expires, let lifetime else { return nil }
        // otherwise a token that is shorter than the lead would be replaced on each request
        return expires - min(lead, lifetime / 2)
    }
}
