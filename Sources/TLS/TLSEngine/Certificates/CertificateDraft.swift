internal import COpenSSL

/// An unsigned certificate (RFC 5280 §4.1), version 3 with a random serial number.
struct CertificateDraft {
    /// Distinguished names in DER.
    let subject: [UInt8]
    let issuer: [UInt8]
    /// SubjectPublicKeyInfo in DER.
    let publicKeyInfo: [UInt8]
    /// Unix seconds.
    let notBefore: Int
    let notAfter: Int
    let extensions: [[UInt8]]

    /// - Throws: `MaterialFault`. Its text continues the name of the certificate.
    func signed(by key: PrivateKey) throws(MaterialFault) -> Certificate {
        let algorithm = try SignatureAlgorithm(key)
        guard !publicKeyInfo.isEmpty else {
            throw MaterialFault("cannot be made: the key's public half cannot be written")
        }
        let unsigned = DER.sequence(
            Self.version, try Self.serialNumber(), algorithm.identifier, issuer,
            DER.sequence(Self.time(notBefore), Self.time(notAfter)), subject, publicKeyInfo,
            DER.context(3, DER.sequence(extensions)))
        guard let signature = algorithm.sign(unsigned, with: key) else {
            throw MaterialFault("cannot be made: the authority's key does not sign")
        }
        return try Certificate(der: DER.sequence(unsigned, algorithm.identifier, DER.bits(signature)))
    }

    /// A distinguished name with this common name only, or an empty one.
    static func name(_ commonName: String?) -> [UInt8] {
        guard let commonName else { return DER.sequence([]) }
        return DER.sequence(DER.set(DER.sequence(DER.identifier([0x55, 0x04, 0x03]), DER.text(commonName))))
    }

    private static let version = DER.context(0, [0x02, 0x01, 0x02])

    /// 16 bytes with 126 random bits. The first two bits keep the number positive and its length constant.
    private static func serialNumber() throws(MaterialFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16)
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard RAND_bytes(&bytes, Int32(bytes.count)) == 1 else {
            throw MaterialFault("cannot be made: the system has no randomness to give")
        }
        bytes[0] = bytes[0] & 0x3F | 0x40
        return DER.value(0x02, bytes)
    }

    /// UTCTime until 2049, then GeneralizedTime (§4.1.2.5); ASN1_TIME_set(3) chooses.
    private static func time(_ seconds: Int) -> [UInt8] {
        guard let time = ASN1_TIME_set(nil, seconds) else { return [] }
        defer { ASN1_TIME_free(time) }
        return Encoded.bytes { i2d_ASN1_TIME(time, $0) }
    }
}
