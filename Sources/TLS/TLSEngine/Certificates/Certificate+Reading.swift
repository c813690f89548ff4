internal import Addresses
internal import COpenSSL

/// The contents of a certificate.
extension Certificate {
    /// `CN=Example Root,O=Example` (RFC 4514).
    public var subject: String { Self.text(X509_get_subject_name(handle)) }
    public var issuer: String { Self.text(X509_get_issuer_name(handle)) }

    private static func text(_ name: OpaquePointer?) -> String {
        let bytes = MemoryText.written { X509_NAME_print_ex($0, name, 0, usher_XN_FLAG_LDAP) >= 0 }
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    /// The subject's first common name. Nil if there is none, or if it contains a zero byte.
    public var commonName: String? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let name = X509_get_subject_name(handle) else { return nil }
        let index = X509_NAME_get_index_by_NID(name, NID_commonName, -1)
        guard index >= 0, let entry = X509_NAME_get_entry(name, index) else { return nil }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(entry))
        guard count >= 0, let bytes else { return nil }
        defer { usher_OPENSSL_free(bytes) }
        let text = UnsafeBufferPointer(start: bytes, count: Int(count))
        return text.contains(0) ? nil : String(decoding: text, as: UTF8.self)
    }

    /// Unix seconds.
    public var notBefore: Int { Self.seconds(X509_get0_notBefore(handle)) }
    public var notAfter: Int { Self.seconds(X509_get0_notAfter(handle)) }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int {
        guard let time, let epoch = ASN1_TIME_set(nil, 0) else { return 0 }
        defer { ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return 0 }
        return Int(days) * 86_400 + Int(seconds)
    }

    public var der: [UInt8] { Encoded.bytes { i2d_X509(handle, $0) } }

    public var pem: [UInt8] { MemoryText.written { PEM_write_bio_X509($0, handle) == 1 } ?? [] }

    /// The SHA-256 digest of the whole certificate, 32 bytes; empty if the library fails.
    public var sha256: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        return X509_digest(handle, EVP_sha256(), &digest, nil) == 1 ? digest : []
    }

    /// The digest in the form that people compare: `AB:CD:…`.
    public var fingerprint: String {
        sha256.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }

    /// SHA-256 of the public key (SubjectPublicKeyInfo; RFC 7469 §2.4), 32 bytes.
    public var publicKeyDigest: [UInt8] { Encoded.sha256(publicKeyInfo) }

    /// The SubjectPublicKeyInfo in DER, as in the certificate.
    var publicKeyInfo: [UInt8] { Encoded.bytes { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(handle), $0) } }

    /// True for a CA, by the basic constraints and any key usage (RFC 5280 §4.2.1.9, §4.2.1.3).
    public var isAuthority: Bool { X509_check_ca(handle) == 1 }
    public var isSelfIssued: Bool { X509_NAME_cmp(X509_get_subject_name(handle), X509_get_issuer_name(handle)) == 0 }

    /// The DNS names and addresses of the subject alternative name.
    public var names: [String] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let data = X509_get_ext_d2i(handle, NID_subject_alt_name, nil, nil) else { return [] }
        let all = OpaquePointer(data)
        defer { GENERAL_NAMES_free(all) }
        return (0..<max(0, usher_sk_GENERAL_NAME_num(all))).compactMap { index in
            guard let name = usher_sk_GENERAL_NAME_value(all, index) else { return nil }
            var kind: Int32 = 0
            guard let value = GENERAL_NAME_get0_value(name, &kind) else { return nil }
            let bytes = Self.bytes(of: value)
            switch kind {
            // a zero byte makes some readers see a shorter name
            case GEN_DNS: return bytes.contains(0) ? nil : String(decoding: bytes, as: UTF8.self)
            case GEN_IPADD: return IPAddress(bytes: Array(bytes))?.description
            default: return nil
            }
        }
    }

    /// - Parameter string: an ASN1_STRING of any kind. It owns the bytes.
    static func bytes(of string: UnsafeRawPointer) -> UnsafeBufferPointer<UInt8> {
        let string = string.assumingMemoryBound(to: ASN1_STRING.self)
        return UnsafeBufferPointer(
            start: ASN1_STRING_get0_data(string), count: max(0, Int(ASN1_STRING_length(string))))
    }
}
