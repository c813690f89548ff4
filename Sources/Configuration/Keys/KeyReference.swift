internal import Declaration
public import TLSEngine

/// A secret of the configuration: where it stands, or its bytes. Secrets that are read from files never become text.
public enum KeyReference: Sendable {
    /// A file's path, as it was written.
    case path(String)
    case material(SecretBytes)
    /// It cannot be had here, where nobody needs it (`MissingSecrets.noted`).
    case missing
}

extension Decoded {
    var secret: KeyReference? { if case .secret(let secret) = content { secret as? KeyReference } else { nil } }
}
