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

    /// Whether the certificate speaks for this key.
    public func fits(_ certificate: Certificate) -> Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return X509_check_private_key(certificate.handle, handle) == 1
    }
}
