internal import Declaration
public import TLSEngine

/// A secret of the configuration: its file or its bytes. Secrets read from files never become a String.
public enum KeyReference: Sendable {
    /// The path of a file, as written.
    case path(String)
    case material(SecretBytes)
    /// The secret is missing, and the command does not need it (`MissingSecrets.noted`).
    case missing
}

extension Decoded {
    var secret: KeyReference? { if case .secret(let secret) = content { secret as? KeyReference } else { nil } }
}
