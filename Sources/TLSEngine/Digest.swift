/// Digests that are not secret.
public enum Digest {
    /// SHA-256, 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] { Encoded.sha256(bytes) }
}
