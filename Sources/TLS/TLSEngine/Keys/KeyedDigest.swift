internal import COpenSSL

/// Digests under a secret key of this object (HMAC-SHA-256, RFC 2104). They reveal nothing about the message.
public struct KeyedDigest: Sendable {
    /// 32 bytes.
    private let key: [UInt8]

    /// Creates a random key.
    public init() {
        var random = SystemRandomNumberGenerator()
        key = (0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
    }

    /// 32 bytes; nil if the library fails.
    public func callAsFunction(_ message: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let made = HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &digest, &length)
        return made != nil && length == 32 ? digest : nil
    }

    /// The first half of the digest, as a key of tables. Nil if the library fails.
    public func tableKey(_ message: [UInt8]) -> UInt128? {
        self(message)?.prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
    }

    /// Compares in constant time.
    public static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
