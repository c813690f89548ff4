public import ProxyCore
public import TLSEngine

/// `tls:` of the configuration, with the files that it names loaded; those of the CA excepted, which are made where
/// they are missing.
public struct TLSSettings: Sendable {
    /// The same as in the session's settings.
    public var interception = InterceptionPolicy()
    public var authority = AuthoritySettings()
    /// Whether SSLKEYLOGFILE may be honoured.
    public var keyLog = false
    public var origins = OriginSecurity()
    /// What `https://` listeners show; nil for a certificate of Usher's own CA.
    public var listener: Identity?

    public init() {}

    /// Hosts whose certificates are not verified, as they were written.
    public var unverified: [DestinationPattern] { origins.rules.filter { $0.verifies == false }.map(\.host) }
}

/// `tls.ca:` of the configuration. Paths are relative to the state directory.
public struct AuthoritySettings: Sendable {
    /// The certificate's file as it was written; nil for `ca.pem`.
    public var certificate: String?
    /// The key's file as it was written, or the key in PEM; nil for `ca.key`.
    public var key: KeyReference?
    /// Nil: the CA may speak for every host.
    public var constraints: NameConstraints?

    public init() {}
}
