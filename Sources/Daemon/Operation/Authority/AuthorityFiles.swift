public import Configuration
public import TLSEngine

/// The files of the interception CA.
public struct AuthorityFiles: Sendable {
    public enum Key: Sendable {
        case file(String)
        /// The key is supplied, for example as a credential of the service manager. Usher must not replace it.
        case given(SecretBytes)
        /// The key should be supplied, but is missing.
        case missing
    }

    public let certificate: String
    public let key: Key
    /// Certificates in which older roots sign the present one.
    public let crosses: String
    /// Older roots. Clients that trust one of them continue to work.
    public let retired: String

    public init(_ settings: AuthoritySettings, in folder: StateDirectory) {
        func path(_ written: String) -> String { written.hasPrefix("/") ? written : folder.file(written) }
        let certificate = path(settings.certificate ?? "ca.pem")
        self.certificate = certificate
        switch settings.key {
        case nil: key = .file(folder.file("ca.key"))
        case .path(let written): key = .file(path(written))
        case .material(let bytes): key = .given(bytes)
        case .missing: key = .missing
        }
        let stem = certificate.hasSuffix(".pem") ? String(certificate.dropLast(4)) : certificate
        crosses = "\(stem).cross.pem"
        retired = "\(stem).retired.pem"
    }
}
