internal import COpenSSL

/// A CA with its issuers. It makes the certificates that intercepted clients see.
public struct CertificateAuthority: Sendable {
    public let certificate: Certificate
    public let key: PrivateKey
    /// Cross certificates, each signed by the key of the next one. They lead from this CA to others that clients may trust
    /// instead. After a rotation, the first has this CA's name and key, and the previous CA signed it.
    public let crosses: [Certificate]

    /// The certificate's subject, read once because every leaf needs it.
    private let subject: [UInt8]
    private let keyIdentifier: [UInt8]
    private let notBefore: Int
    private let notAfter: Int
    /// Nil also if a foreign CA has constraints that `NameConstraints` cannot express. Clients check those.
    private let constraints: NameConstraints?

    private static let day = 86_400
    /// Clocks of clients may be this far behind.
    private static let setBack = 2 * day
    private static let leafLifetime = 90 * day
    private static let lifetime = 730 * day
    /// A client verifies if it trusts a CA of at most this many rotations ago.
    private static let maxCrosses = 4

    /// - Parameter crosses: see `crosses`. If another CA issued the certificate, they may begin with that CA's.
    /// - Throws: `MaterialFault` if the certificate is no CA's, if the key is not its own or of a kind that clients do not
    ///   verify, or if the crosses do not continue the chain.
    public init(certificate: Certificate, key: PrivateKey, crosses: [Certificate] = []) throws(MaterialFault) {
        guard certificate.isAuthority else {
            throw MaterialFault(
                "holds a certificate that may not certify hosts (\(certificate.subject)): it does not belong to a CA")
        }
        guard key.fits(certificate) else { throw MaterialFault("holds a certificate that is not for the CA's key") }
        _ = try SignatureAlgorithm(key)
        var below = certificate
        for (index, cross) in crosses.enumerated() {
            guard index == 0 && cross.isForSameKey(as: certificate) || cross.signed(below) else {
                throw MaterialFault(
                    "holds a certificate, \(cross.subject), that does not lead on from \(below.subject); remove it")
            }
            below = cross
        }
        self.certificate = certificate
        self.key = key
        self.crosses = crosses
        subject = Encoded.bytes { i2d_X509_NAME(X509_get_subject_name(certificate.handle), $0) }
        keyIdentifier = certificate.keyIdentifier
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
        constraints = certificate.ownConstraints
    }

    /// The certificates that are sent after a leaf. The CA's own is among them unless it is a root, which clients have.
    public var chain: [Certificate] { (certificate.isSelfIssued ? [] : [certificate]) + crosses }

    // MARK: making

    /// Makes a root that is valid for two years, and back-dated by two days.
    /// - Parameters:
    ///   - name: the beginning of the common name, cut after 50 characters. Eight random hexadecimal digits follow, because
    ///     clients would confuse two roots with one name.
    ///   - key: the key; nil for a new one on the curve P-256.
    ///   - now: Unix seconds.
    /// - Throws: `MaterialFault` if the key does not allow it.
    public static func make(
        name: String, constraints: NameConstraints?, key: PrivateKey? = nil, now: Int
    ) throws(MaterialFault) -> CertificateAuthority {
        let key = if let key { key } else { try PrivateKey.makeP256() }
        let mark = String(UInt32.random(in: 1 << 28 ... .max), radix: 16)
        let begin = String(String.UnicodeScalarView(name.unicodeScalars.prefix(50)))
        let subject = CertificateDraft.name("\(begin) \(mark)")
        let draft = CertificateDraft(
            subject: subject, issuer: subject, publicKeyInfo: key.publicKeyInfo, notBefore: now - setBack,
            notAfter: now + lifetime,
            extensions: extensions(key: key.identifier, authorityKey: key.identifier, constraints))
        return try CertificateAuthority(certificate: draft.signed(by: key), key: key)
    }

    /// Makes a new root with a new key, and a cross certificate by this CA. Clients that trust either of the two then verify
    /// the new root's leaves, while this CA is valid. For clients that trust this CA, its constraints also bind the new root.
    /// - Parameter now: Unix seconds.
    public func rotated(constraints: NameConstraints?, now: Int) throws(MaterialFault) -> CertificateAuthority {
        let fresh = try Self.make(name: nameWithoutMark, constraints: constraints, now: now)
        // an expired CA, or one that allows no CA below it, cannot sign a cross certificate
        guard notAfter > now, X509_get_pathlen(certificate.handle) != 0 else { return fresh }
        let draft = CertificateDraft(
            subject: fresh.subject, issuer: subject, publicKeyInfo: fresh.key.publicKeyInfo,
            notBefore: max(notBefore, fresh.notBefore), notAfter: min(notAfter, fresh.notAfter),
            extensions: Self.extensions(key: fresh.keyIdentifier, authorityKey: keyIdentifier, constraints))
        let older = chain.prefix { $0.notAfter > now }
        return try CertificateAuthority(
            certificate: fresh.certificate, key: fresh.key,
            crosses: Array(([try draft.signed(by: key)] + older).prefix(Self.maxCrosses)))
    }

    private var nameWithoutMark: String {
        guard let name = certificate.commonName else { return "Usher CA" }
        let words = name.split(separator: " ", omittingEmptySubsequences: false)
        guard let last = words.last, words.count > 1, last.utf8.count == 8, UInt32(last, radix: 16) != nil else {
            return name
        }
        return words.dropLast().joined(separator: " ")
    }

    private static func extensions(
        key: [UInt8], authorityKey: [UInt8], _ constraints: NameConstraints?
    ) -> [[UInt8]] {
        var extensions = [CertificateExtension.isAuthority, CertificateExtension.signsCertificates]
        extensions.append(CertificateExtension.key(key))
        // a foreign CA may have no key identifier
        if !authorityKey.isEmpty { extensions.append(CertificateExtension.authorityKey(authorityKey)) }
        if let constraints { extensions.append(CertificateExtension.constraints(constraints)) }
        return extensions
    }

    /// Makes a certificate for one host. It is valid for thirty days at most, ends with the CA, and is back-dated by two days.
    /// - Parameters:
    ///   - host: a DNS name in its ASCII form, with a leading `*` for all names below, or an address.
    ///   - key: the key of the certificate.
    ///   - now: Unix seconds.
    /// - Throws: `MaterialFault` if the host is invalid, or if the CA may not certify it or has expired.
    public func leaf(for host: String, key: PrivateKey, now: Int) throws(MaterialFault) -> Certificate {
        guard let certified = CertifiedHost(host) else {
            throw MaterialFault(
                "cannot be made: \(host.debugDescription) is neither a DNS name in ASCII nor an address")
        }
        guard constraints?.permits(certified) ?? true else {
            throw MaterialFault(
                "cannot be made: the CA is bound to \(constraints?.entries.joined(separator: ", ") ?? ""), and \(host) is "
                    + "none of those; extend tls.ca.constrain_to and make another CA with usher ca rotate")
        }
        guard notAfter > now else {
            throw MaterialFault("cannot be made: the CA has expired; make another with usher ca rotate")
        }
        var extensions = [
            CertificateExtension.isLeaf, CertificateExtension.signsHandshakes, CertificateExtension.isServer,
            CertificateExtension.name(certified, isCritical: certified.commonName == nil),
            CertificateExtension.key(key.identifier),
        ]
        if !keyIdentifier.isEmpty { extensions.append(CertificateExtension.authorityKey(keyIdentifier)) }
        let draft = CertificateDraft(
            subject: CertificateDraft.name(certified.commonName), issuer: subject, publicKeyInfo: key.publicKeyInfo,
            notBefore: max(now - Self.setBack, notBefore), notAfter: min(now + Self.leafLifetime, notAfter),
            extensions: extensions)
        return try draft.signed(by: self.key)
    }
}

extension Certificate {
    /// The subject's key identifier (RFC 5280 §4.2.1.2); empty if there is none.
    fileprivate var keyIdentifier: [UInt8] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        return X509_get0_subject_key_id(handle).map { Array(Self.bytes(of: $0)) } ?? []
    }

    fileprivate var ownConstraints: NameConstraints? {
        let index = X509_get_ext_by_NID(handle, NID_name_constraints, -1)
        guard index >= 0, let value = X509_EXTENSION_get_data(X509_get_ext(handle, index)),
            let constraints = try? NameConstraints(nameConstraints)
        else { return nil }
        return constraints.encoded.elementsEqual(Self.bytes(of: value)) ? constraints : nil
    }

    fileprivate func isForSameKey(as other: Certificate) -> Bool {
        X509_NAME_cmp(X509_get_subject_name(handle), X509_get_subject_name(other.handle)) == 0
            && publicKeyInfo == other.publicKeyInfo
    }

    /// True if this certificate's key signed the other.
    fileprivate func signed(_ other: Certificate) -> Bool {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        return X509_check_issued(handle, other.handle) == X509_V_OK
            && X509_verify(other.handle, X509_get0_pubkey(handle)) == 1
    }
}
