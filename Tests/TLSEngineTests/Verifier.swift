import COpenSSL
import Testing

@testable import TLSEngine

/// OpenSSL's own judgement of a chain, in its strict mode (X509_VERIFY_PARAM_set_flags(3)), as a client of a server has it.
enum Verifier {
    /// - Parameters:
    ///   - sent: what came behind the leaf.
    ///   - host: whom the client wanted; nil to leave that out.
    ///   - now: Unix seconds.
    /// - Returns: X509_V_OK or the error's number.
    static func verdict(
        on leaf: Certificate, sent: [Certificate] = [], trusting roots: [Certificate], host: String? = nil, now: Int
    ) throws -> Int32 {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let store = try #require(X509_STORE_new())
        defer { X509_STORE_free(store) }
        for root in roots { X509_STORE_add_cert(store, root.handle) }
        let untrusted = OPENSSL_sk_new_null()
        defer { OPENSSL_sk_free(untrusted) }
        for certificate in sent { OPENSSL_sk_push(untrusted, UnsafeRawPointer(certificate.handle)) }
        let context = try #require(X509_STORE_CTX_new())
        defer { X509_STORE_CTX_free(context) }
        try #require(X509_STORE_CTX_init(context, store, leaf.handle, untrusted) == 1)
        let parameters = X509_STORE_CTX_get0_param(context)
        X509_VERIFY_PARAM_set_time(parameters, now)
        X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER)
        X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_X509_STRICT))
        if let host, X509_VERIFY_PARAM_set1_ip_asc(parameters, host) != 1 {
            X509_VERIFY_PARAM_set1_host(parameters, host, 0)
        }
        let isVerified = X509_verify_cert(context) == 1
        let code = X509_STORE_CTX_get_error(context)
        #expect(isVerified == (code == X509_V_OK))
        return code
    }

    /// Whether an extension is there, and is critical (X509_get_ext_d2i(3)); nil where it is not there.
    static func isCritical(_ kind: Int32, in certificate: Certificate) -> Bool? {
        let index = X509_get_ext_by_NID(certificate.handle, kind, -1)
        guard index >= 0 else { return nil }
        return X509_EXTENSION_get_critical(X509_get_ext(certificate.handle, index)) == 1
    }

    static func serial(_ certificate: Certificate) throws -> [UInt8] {
        let number = try #require(X509_get0_serialNumber(certificate.handle))
        #expect(number.pointee.type == V_ASN1_INTEGER, "negative")
        return Array(UnsafeBufferPointer(start: number.pointee.data, count: Int(number.pointee.length)))
    }

    static func signature(_ certificate: Certificate) -> Int32 { X509_get_signature_nid(certificate.handle) }
}

/// Keys in the forms that OpenSSL writes.
enum KeyForms {
    static func rsa(_ bits: Int = 2048) throws -> PrivateKey {
        let context = try #require(EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil))
        defer { EVP_PKEY_CTX_free(context) }
        EVP_PKEY_keygen_init(context)
        EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits))
        var key: OpaquePointer?
        EVP_PKEY_generate(context, &key)
        return PrivateKey(owning: try #require(key))
    }

    static func curve(_ name: String) throws -> PrivateKey {
        PrivateKey(owning: try #require(usher_EVP_EC_gen(name)))
    }

    static func ed25519() throws -> PrivateKey {
        PrivateKey(owning: try #require(EVP_PKEY_Q_keygen_ed25519()))
    }

    private static func EVP_PKEY_Q_keygen_ed25519() -> OpaquePointer? {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
        defer { EVP_PKEY_CTX_free(context) }
        EVP_PKEY_keygen_init(context)
        var key: OpaquePointer?
        EVP_PKEY_generate(context, &key)
        return key
    }

    /// `EC PRIVATE KEY`, `RSA PRIVATE KEY`, with the encryption that came before PKCS#8 where there is a password.
    static func traditional(_ key: PrivateKey, password: String? = nil) throws -> [UInt8] {
        let text = MemoryText.written { target in
            let cipher = password.map { _ in EVP_aes_128_cbc() } ?? nil
            let bytes = Array((password ?? "").utf8)
            return PEM_write_bio_PrivateKey_traditional(
                target, key.handle, cipher, bytes, Int32(bytes.count), nil, nil) == 1
        }
        return try #require(text)
    }

    static func sealed(_ key: PrivateKey, password: String) throws -> [UInt8] {
        let text = MemoryText.written { target in
            let bytes = password.utf8CString
            return bytes.withUnsafeBufferPointer {
                PEM_write_bio_PKCS8PrivateKey(
                    target, key.handle, EVP_aes_256_cbc(), $0.baseAddress, Int32($0.count - 1), nil, nil) == 1
            }
        }
        return try #require(text)
    }
}

extension SecretBytes {
    convenience init(_ text: String) {
        var bytes = Array(text.utf8)
        self.init(taking: &bytes)
    }

    convenience init(_ bytes: [UInt8]) {
        var bytes = bytes
        self.init(taking: &bytes)
    }

    var bytes: [UInt8] { withBytes { Array($0) } }
}

extension PrivateKey {
    func isSame(as other: PrivateKey) -> Bool { EVP_PKEY_eq(handle, other.handle) == 1 }
}
