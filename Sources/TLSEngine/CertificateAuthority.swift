internal import COpenSSL
internal import HTTPCodec

/// The authority by which intercepted hosts are spoken for: a root with its key, and the certificates by which older roots
/// vouch for it.
public struct CertificateAuthority: Sendable {
    /// Signed by itself.
    public let certificate: Certificate
    public let key: PrivateKey
    /// What links it to the roots that it replaced: its own name and key signed by the last root, that one's signed by the
    /// root before, and so on.
    public let crosses: [Certificate]
    private let keyIdentifier: [UInt8]

    private static let day = 86_400
    /// Clocks differ: what is made now is valid since then.
    private static let setBack = 2 * day
    private static let life = 730 * day
    private static let leafLife = 30 * day
    private static let maxCrosses = 4

    /// - Throws: `MaterialFault` where the parts do not belong together, or the certificate is no authority's.
    public init(certificate: Certificate, key: PrivateKey, crosses: [Certificate] = []) throws(MaterialFault) {
        guard certificate.isAuthority else { throw MaterialFault("is not the certificate of an authority") }
        guard key.fits(certificate) else { throw MaterialFault("is a certificate that the key does not belong to") }
        self.certificate = certificate
        self.key = key
        self.crosses = crosses
        keyIdentifier = certificate.subjectKeyIdentifier ?? Array(certificate.publicKeyDigest.prefix(20))
    }

    /// Sent to clients behind a leaf, so that those who trust an older root find their way to it.
    public var chain: [Certificate] { crosses }

    // MARK: making

    /// A new root.
    /// - Parameters:
    ///   - name: becomes part of the subject.
    ///   - constraints: whom it may speak for; nil for anybody.
    ///   - key: nil for a new one on the curve P-256.
    ///   - now: Unix seconds.
    public static func make(
        name: String, constraints: NameConstraints?, key: PrivateKey? = nil, now: Int
    ) throws(MaterialFault) -> CertificateAuthority {
        guard let key else {
            return try make(name: name, constraints: constraints, key: .makeP256(), now: now)
        }
        // two roots with one name would be taken for each other
        let mark = UInt32.random(in: 1 << 31 ... .max)
        let subject = "\(String(String.UnicodeScalarView(name.unicodeScalars.prefix(50)))) \(String(mark, radix: 16))"
        let root = try certificate(
            named: subject, key, constraints, until: now + life, issuer: nil, signer: key, now: now)
        return try CertificateAuthority(certificate: root, key: key)
    }

    /// Another root with another key, for which this one vouches until its own end: who trusts this one trusts what the new
    /// one makes.
    public func rotated(constraints: NameConstraints?, now: Int) throws(MaterialFault) -> CertificateAuthority {
        let words = (certificate.commonName ?? "Usher CA").split(separator: " ").dropLast()
        let new = try Self.make(
            name: words.isEmpty ? "Usher CA" : words.joined(separator: " "), constraints: constraints, now: now)
        let cross = try Self.certificate(
            named: new.certificate.commonName ?? "", new.key, constraints,
            until: min(certificate.notAfter, new.certificate.notAfter), issuer: self, signer: key, now: now)
        let older = crosses.filter { $0.notAfter > now }
        // older roots vouch for the root that vouches for the new one
        return try CertificateAuthority(
            certificate: new.certificate, key: new.key, crosses: Array(([cross] + older).prefix(Self.maxCrosses)))
    }

    private static func certificate(
        named name: String, _ key: PrivateKey, _ constraints: NameConstraints?, until end: Int,
        issuer: CertificateAuthority?, signer: PrivateKey, now: Int
    ) throws(MaterialFault) -> Certificate {
        let start = max(now - setBack, issuer?.certificate.notBefore ?? .min)
        var draft = try CertificateDraft.of(key, notBefore: start, notAfter: end)
        try draft.name(name)
        try draft.issue(by: issuer?.certificate)
        let identifier = key.identifier
        try draft.identify(identifier, by: issuer?.keyIdentifier ?? identifier)
        try draft.add(NID_basic_constraints, isCritical: true, DER.sequence([0x01, 0x01, 0xFF]))
        // keyCertSign, cRLSign
        try draft.add(NID_key_usage, isCritical: true, [0x03, 0x02, 0x01, 0x06])
        if let constraints { try draft.add(NID_name_constraints, isCritical: true, constraints.der) }
        return try draft.signed(by: signer)
    }

    // MARK: leaves

    /// The certificate for one host (RFC 5280, and what browsers ask beyond it).
    /// - Parameters:
    ///   - name: a DNS name in ASCII, whose first label may be `*`, or an address without brackets.
    ///   - key: whose certificate it is to be.
    ///   - now: Unix seconds.
    /// - Throws: `MaterialFault` for any other name.
    public func leaf(for name: String, key: PrivateKey, now: Int) throws(MaterialFault) -> Certificate {
        let address = IPAddress(name)
        guard address != nil || HostName.isValid(name) else {
            throw MaterialFault("cannot be made for \"\(name)\", which is no name of a host")
        }
        var draft = try CertificateDraft.of(
            key, notBefore: max(now - Self.setBack, certificate.notBefore),
            notAfter: min(now + Self.leafLife, certificate.notAfter))
        let isNamed = name.utf8.count <= 64
        try draft.name(isNamed ? name : nil)
        try draft.issue(by: certificate)
        try draft.identify(key.identifier, by: keyIdentifier)
        try draft.add(NID_basic_constraints, isCritical: true, DER.sequence([]))
        // digitalSignature
        try draft.add(NID_key_usage, isCritical: true, [0x03, 0x02, 0x07, 0x80])
        // id-kp-serverAuth
        try draft.add(
            NID_ext_key_usage, DER.sequence(DER.value(0x06, [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01])))
        let names = address.map { DER.value(0x87, $0.bytes) } ?? DER.value(0x82, Array(name.utf8))
        try draft.add(NID_subject_alt_name, isCritical: !isNamed, DER.sequence(names))
        return try draft.signed(by: self.key)
    }
}
