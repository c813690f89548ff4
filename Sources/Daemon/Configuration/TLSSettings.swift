public import ProxyCore
public import TLSEngine

/// The settings of `tls` with their files loaded, except those of the CA, which are generated if they are missing.
public struct TLSSettings: Sendable {
    /// Equal to the policy in `Settings`.
    public var interception = InterceptionPolicy()
    public var authority = AuthoritySettings()
    /// Whether SSLKEYLOGFILE takes effect.
    public var keyLog = false
    public var origins = OriginSecurity()
    /// The certificate of `https://` listeners; nil for one issued by Usher's CA.
    public var listener: Identity?

    public init() {}

    /// The hosts whose certificates are not verified, as written.
    public var unverified: [DestinationPattern] { origins.rules.filter { $0.verifies == false }.map(\.host) }
}

/// The settings of `tls.ca`. Paths are relative to the state directory.
public struct AuthoritySettings: Sendable {
    /// The certificate's file, as written; nil for `ca.pem`.
    public var certificate: String?
    /// The key's file as written, or the key in PEM; nil for `ca.key`.
    public var key: KeyReference?
    /// Nil if the CA may issue certificates for every host.
    public var constraints: NameConstraints?

    public init() {}
}
