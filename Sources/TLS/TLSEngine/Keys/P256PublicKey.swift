internal import COpenSSL

/// The public half of a key on the curve P-256, with the coordinates of a JSON Web Key (RFC 7518 §6.2.1).
public struct P256PublicKey: Sendable {
    /// The SubjectPublicKeyInfo in DER (RFC 5480 §2).
    private let encoded: [UInt8]

    /// SEQUENCE { SEQUENCE { ecPublicKey, prime256v1 }, BIT STRING }, up to the uncompressed point.
    private static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE,
        0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    /// - Parameters:
    ///   - x, y: 32 bytes each.
    /// - Returns: nil if that is no point on the curve.
    public init?(x: [UInt8], y: [UInt8]) {
        guard x.count == 32, y.count == 32 else { return nil }
        encoded = Self.prefix + x + y
        guard let key = Self.opened(encoded) else { return nil }
        EVP_PKEY_free(key)
    }

    /// True if this key signed the message with ES256 (RFC 7518 §3.4).
    /// - Parameter signature: two numbers of 32 bytes each.
    public func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == 64, let key = Self.opened(encoded) else { return false }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let body = Self.integer(signature[..<32]) + Self.integer(signature[32...])
        let sequence = [0x30, UInt8(body.count)] + body
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, sequence, sequence.count, message, message.count) == 1
    }

    private static func opened(_ encoded: [UInt8]) -> OpaquePointer? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        return encoded.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_PUBKEY(nil, &start, bytes.count)
        }
    }

    /// An INTEGER: without leading zeros, except one that keeps it positive.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var content = Array(bytes.drop { $0 == 0 })
        if content.first.map({ $0 >= 0x80 }) ?? true { content.insert(0, at: 0) }
        return [0x02, UInt8(content.count)] + content
    }
}
