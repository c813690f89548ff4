internal import COpenSSL

extension PKCS12 {
    private static let iterations: Int32 = 10_000

    /// Makes a container of certificates, each marked as trusted for everything. Java's KeyStore requires this mark for a CA
    /// (attribute trustedKeyUsage, 2.16.840.1.113894.746875.1.1).
    /// - Throws: `MaterialFault` if it cannot be made.
    public static func trustStore(_ certificates: [Certificate], password: String) throws(MaterialFault) -> [UInt8] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let fault = MaterialFault("could not be put into a PKCS#12 container")
        var bags: OpaquePointer?
        defer { usher_sk_PKCS12_SAFEBAG_free(bags) }
        for (number, certificate) in certificates.enumerated() {
            guard let bag = PKCS12_add_cert(&bags, certificate.handle) else { throw fault }
            // names identify entries, without regard to case
            let name = "\(number + 1) \(certificate.commonName ?? certificate.subject)"
            guard PKCS12_add_friendlyname_utf8(bag, name, -1) == 1, let mark = trustMark() else { throw fault }
            guard usher_add_bag_attribute(bag, mark) == 1 else {
                X509_ATTRIBUTE_free(mark)
                throw fault
            }
        }
        var safes: OpaquePointer?
        defer { usher_sk_PKCS7_free(safes) }
        // certificates are public; the MAC protects them against changes
        guard PKCS12_add_safe(&safes, bags, -1, 0, nil) == 1, let container = PKCS12_add_safes(safes, 0) else {
            throw fault
        }
        defer { PKCS12_free(container) }
        guard PKCS12_set_mac(container, password, -1, nil, 0, iterations, EVP_sha256()) == 1 else { throw fault }
        let bytes = Encoded.bytes { i2d_PKCS12(container, $0) }
        guard !bytes.isEmpty else { throw fault }
        return bytes
    }

    /// `trustedKeyUsage` with `anyExtendedKeyUsage` (RFC 5280 §4.2.1.12).
    private static func trustMark() -> OpaquePointer? {
        guard let kind = OBJ_txt2obj("2.16.840.1.113894.746875.1.1", 1) else { return nil }
        defer { ASN1_OBJECT_free(kind) }
        guard let value = OBJ_txt2obj("2.5.29.37.0", 1), let mark = X509_ATTRIBUTE_new() else { return nil }
        defer { ASN1_OBJECT_free(value) }
        guard X509_ATTRIBUTE_set1_object(mark, kind) == 1,
            X509_ATTRIBUTE_set1_data(mark, V_ASN1_OBJECT, UnsafeRawPointer(value), -1) == 1
        else {
            X509_ATTRIBUTE_free(mark)
            return nil
        }
        return mark
    }
}
