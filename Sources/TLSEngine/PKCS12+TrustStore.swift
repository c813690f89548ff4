internal import COpenSSL
internal import HTTPCodec

extension PKCS12 {
    private static let iterations: Int32 = 10_000

    /// A container of certificates alone, which Java's `KeyStore` reads as trusted ones. They stand in it unencrypted, for they
    /// are no secret, and every reader can do without the ciphers; the password guards against change (HMAC-SHA-256).
    /// - Throws: `MaterialFault` where OpenSSL cannot make it.
    public static func trustStore(_ certificates: [Certificate], password: String) throws(MaterialFault) -> [UInt8] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        var safes: OpaquePointer?
        var bags: OpaquePointer?
        defer {
            usher_safes_free(safes)
            usher_bags_free(bags)
        }
        bags = OPENSSL_sk_new_null()
        var used: Set<String> = []
        for certificate in certificates {
            guard let bag = bag(certificate, alias: alias(certificate, &used)) else { throw failure }
            guard OPENSSL_sk_push(bags, UnsafeRawPointer(bag)) > 0 else {
                PKCS12_SAFEBAG_free(bag)
                throw failure
            }
        }
        guard PKCS12_add_safe(&safes, bags, -1, 0, nil) == 1, let container = PKCS12_add_safes(safes, 0) else {
            throw failure
        }
        defer { PKCS12_free(container) }
        guard PKCS12_set_mac(container, password, -1, nil, 0, iterations, EVP_sha256()) == 1 else { throw failure }
        let bytes = Encoded.bytes { i2d_PKCS12(container, $0) }
        guard !bytes.isEmpty else { throw failure }
        return bytes
    }

    private static var failure: MaterialFault {
        MaterialFault("cannot be made: OpenSSL makes no PKCS#12 container of it")
    }

    /// Java keeps one entry an alias, and takes no notice of case.
    private static func alias(_ certificate: Certificate, _ used: inout Set<String>) -> String {
        let name = certificate.commonName ?? certificate.subject
        var alias = name
        var number = 1
        while !used.insert(alias.lowercased()).inserted {
            number += 1
            alias = "\(name) (\(number))"
        }
        return alias
    }

    private static func bag(_ certificate: Certificate, alias: String) -> OpaquePointer? {
        guard let bag = PKCS12_SAFEBAG_create_cert(certificate.handle) else { return nil }
        // the name goes first: it makes the set of attributes that the other is put into
        guard PKCS12_add_friendlyname_utf8(bag, alias, -1) == 1, let attributes = PKCS12_SAFEBAG_get0_attrs(bag),
            let trust = trustAttribute()
        else {
            PKCS12_SAFEBAG_free(bag)
            return nil
        }
        guard OPENSSL_sk_push(attributes, UnsafeRawPointer(trust)) > 0 else {
            X509_ATTRIBUTE_free(trust)
            PKCS12_SAFEBAG_free(bag)
            return nil
        }
        return bag
    }

    /// Oracle's `trustedKeyUsage` with `anyExtendedKeyUsage`: without it Java sees no trusted entry.
    private static func trustAttribute() -> OpaquePointer? {
        guard let kind = OBJ_txt2obj("2.16.840.1.113894.746875.1.1", 1) else { return nil }
        defer { ASN1_OBJECT_free(kind) }
        guard let any = OBJ_nid2obj(NID_anyExtendedKeyUsage) else { return nil }
        return X509_ATTRIBUTE_create_by_OBJ(nil, kind, V_ASN1_OBJECT, UnsafeRawPointer(any), -1)
    }
}
