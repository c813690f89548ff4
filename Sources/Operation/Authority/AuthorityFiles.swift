public import Configuration
public import TLSEngine

/// Where the parts of the interception CA stand.
public struct AuthorityFiles: Sendable {
    public enum Key: Sendable {
        case file(String)
        /// It comes from outside, such as a credential of the service manager, and is nothing that Usher may replace.
        case given(SecretBytes)
        /// It comes from outside, and is not there.
        case missing
    }

    public let certificate: String
    public let key: Key
    /// Certificates by which older roots vouch for the present one.
    public let crosses: String
    /// Older roots: those who were told to trust one of them go on to.
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
