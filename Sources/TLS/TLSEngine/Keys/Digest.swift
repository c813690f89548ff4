/// Digests that are not secret.
public enum Digest {
    /// SHA-256, 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] { Encoded.sha256(bytes) }

    /// SHA-1, 20 bytes, for protocols that need it for no protection. Empty if the library fails.
    public static func sha1(_ bytes: [UInt8]) -> [UInt8] { Encoded.sha1(bytes) }
}
