/// Extensions of certificates in DER (RFC 5280 §4.2). OpenSSL would parse them from text (X509V3_EXT_nconf(3)), which is slow
/// and needs names to be escaped.
enum CertificateExtension {
    /// KeyUsage (§4.2.1.3) of a leaf: digitalSignature, for handshakes.
    static let signsHandshakes = make(0x0F, isCritical: true, DER.bits([0x80], unused: 7))
    /// KeyUsage of an authority: keyCertSign and cRLSign.
    static let signsCertificates = make(0x0F, isCritical: true, DER.bits([0x06], unused: 1))
    /// BasicConstraints (§4.2.1.9).
    static let isLeaf = make(0x13, isCritical: true, DER.sequence([]))
    /// Sets no limit on CAs below, because cross certificates add some.
    static let isAuthority = make(0x13, isCritical: true, DER.sequence(DER.yes))
    /// ExtKeyUsage (§4.2.1.12) with id-kp-serverAuth.
    static let isServer = make(
        0x25, isCritical: false, DER.sequence(DER.identifier([0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01])))

    /// SubjectKeyIdentifier (§4.2.1.2).
    static func key(_ identifier: [UInt8]) -> [UInt8] { make(0x0E, isCritical: false, DER.octets(identifier)) }

    /// AuthorityKeyIdentifier (§4.2.1.1) with the key only. A CA's own certificate and its cross certificates share only that.
    static func authorityKey(_ identifier: [UInt8]) -> [UInt8] {
        make(0x23, isCritical: false, DER.sequence(DER.value(0x80, identifier)))
    }

    /// SubjectAltName (§4.2.1.6).
    static func name(_ host: CertifiedHost, isCritical: Bool) -> [UInt8] {
        make(0x11, isCritical: isCritical, DER.sequence(host.generalName))
    }

    /// NameConstraints (§4.2.1.10).
    static func constraints(_ constraints: NameConstraints) -> [UInt8] {
        make(0x1E, isCritical: true, constraints.encoded)
    }

    /// - Parameter identifier: the last arc of `id-ce`, 2.5.29.
    private static func make(_ identifier: UInt8, isCritical: Bool, _ value: [UInt8]) -> [UInt8] {
        DER.sequence(DER.identifier([0x55, 0x1D, identifier]), isCritical ? DER.yes : [], DER.octets(value))
    }
}
