internal import COpenSSL

/// A certificate in the making (RFC 5280 §4).
struct CertificateDraft: ~Copyable {
    private let handle: OpaquePointer

    /// - Parameters:
    ///   - notBefore: Unix seconds, and so is `notAfter`.
    /// - Throws: `MaterialFault` where there is no memory, or no randomness for a serial number.
    static func of(_ key: PrivateKey, notBefore: Int, notAfter: Int) throws(MaterialFault) -> CertificateDraft {
        ErrorQueue.clear()
        guard let handle = X509_new() else { throw fault }
        let draft = CertificateDraft(owning: handle)
        try draft.begin(key, notBefore, notAfter)
        return draft
    }

    private init(owning handle: OpaquePointer) { self.handle = handle }

    private func begin(_ key: PrivateKey, _ notBefore: Int, _ notAfter: Int) throws(MaterialFault) {
        var serial = [UInt8](repeating: 0, count: 16)
        guard RAND_bytes(&serial, 16) == 1 else { throw Self.fault }
        // positive, and of one length (RFC 5280 §4.1.2.2)
        serial[0] = serial[0] & 0x3F | 0x40
        let number = BN_bin2bn(serial, 16, nil)
        defer { BN_free(number) }
        guard X509_set_version(handle, 2) == 1,
            BN_to_ASN1_INTEGER(number, X509_get_serialNumber(handle)) != nil,
            ASN1_TIME_set(X509_getm_notBefore(handle), notBefore) != nil,
            ASN1_TIME_set(X509_getm_notAfter(handle), notAfter) != nil,
            X509_set_pubkey(handle, key.handle) == 1
        else { throw Self.fault }
    }

    deinit {
        X509_free(handle)
        ErrorQueue.clear()
    }

    static let fault = MaterialFault("could not be made: \(Library.version) refused")

    /// - Parameter commonName: at most 64 characters; nil for an empty subject.
    mutating func name(_ commonName: String?) throws(MaterialFault) {
        guard var commonName else { return }
        let isTaken = commonName.withUTF8 {
            X509_NAME_add_entry_by_NID(
                X509_get_subject_name(handle), NID_commonName, MBSTRING_UTF8, $0.baseAddress, Int32($0.count), -1, 0)
        }
        guard isTaken == 1 else { throw Self.fault }
    }

    /// - Parameter issuer: nil for the subject itself.
    mutating func issue(by issuer: Certificate?) throws(MaterialFault) {
        let name = X509_get_subject_name(issuer?.handle ?? handle)
        guard X509_set_issuer_name(handle, name) == 1 else { throw Self.fault }
    }

    /// - Parameter value: the extension's own DER.
    mutating func add(_ kind: Int32, isCritical: Bool = false, _ value: [UInt8]) throws(MaterialFault) {
        guard let octets = ASN1_OCTET_STRING_new() else { throw Self.fault }
        defer { ASN1_OCTET_STRING_free(octets) }
        guard ASN1_OCTET_STRING_set(octets, value, Int32(value.count)) == 1,
            let made = X509_EXTENSION_create_by_NID(nil, kind, isCritical ? 1 : 0, octets)
        else { throw Self.fault }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(handle, made, -1) == 1 else { throw Self.fault }
    }

    /// Who the key belongs to, and whose key signs, by digests of them (RFC 5280 §4.2.1.1, §4.2.1.2).
    mutating func identify(_ key: [UInt8], by issuer: [UInt8]) throws(MaterialFault) {
        try add(NID_subject_key_identifier, DER.octets(key))
        try add(NID_authority_key_identifier, DER.sequence(DER.value(0x80, issuer)))
    }

    consuming func signed(by key: PrivateKey) throws(MaterialFault) -> Certificate {
        // Ed25519 and Ed448 bring their digest with them
        let kind = EVP_PKEY_get_base_id(key.handle)
        let digest = kind == EVP_PKEY_ED25519 || kind == EVP_PKEY_ED448 ? nil : EVP_sha256()
        guard X509_sign(handle, key.handle, digest) > 0, X509_up_ref(handle) == 1 else { throw Self.fault }
        return Certificate(owning: handle)
    }
}
