internal import COpenSSL

/// A private key. OpenSSL overwrites it when it is freed.
public final class PrivateKey: @unchecked Sendable {
    // An EVP_PKEY is not changed after it was made, and OpenSSL counts references to it atomically.
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { EVP_PKEY_free(handle) }

    /// A new key on the curve P-256.
    public static func makeP256() throws(MaterialFault) -> PrivateKey {
        ERR_clear_error()
        guard let key = usher_EVP_EC_gen("P-256") else { throw MaterialFault("no key could be made") }
        return PrivateKey(owning: key)
    }

    /// 20 bytes by which certificates name the key: the SHA-256 of its public half, cut short (RFC 7093 §2).
    var identifier: [UInt8] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(handle, &bytes)
        guard count > 0, let bytes else { return [] }
        defer { usher_OPENSSL_free(bytes) }
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_Digest(bytes, Int(count), &digest, nil, EVP_sha256(), nil)
        return Array(digest[..<20])
    }

    /// Whether the certificate speaks for this key.
    public func fits(_ certificate: Certificate) -> Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return X509_check_private_key(certificate.handle, handle) == 1
    }
}
