internal import COpenSSL

/// An authority that certifies hosts, with those above it: what makes the certificates that intercepted clients see.
public struct CertificateAuthority: Sendable {
    public let certificate: Certificate
    public let key: PrivateKey
    /// Certificates that lead from this authority to others which clients may trust instead of it, each signed by the next
    /// one's key: after a rotation the first is for this authority's own name and key, signed by the one before.
    public let crosses: [Certificate]

    /// The certificate's subject, read once because every leaf needs it.
    private let subject: [UInt8]
    private let keyIdentifier: [UInt8]
    private let notBefore: Int
    private let notAfter: Int
    /// Nil too where others bound it in ways that `NameConstraints` has not: clients judge then.
    private let constraints: NameConstraints?

    private static let day = 86_400
    /// Clocks of clients are behind by up to so much.
    private static let setBack = 2 * day
    private static let leafLifetime = 90 * day
    private static let lifetime = 730 * day
    /// A client that trusts an authority so many rotations back still verifies.
    private static let maxCrosses = 4

    /// - Parameter crosses: see `crosses`; where the certificate is by another authority they may begin with that one's.
    /// - Throws: `MaterialFault` where the certificate is no authority's, the key not its own or of a kind that clients do not
    ///   verify, or the crosses do not lead on from it.
    public init(certificate: Certificate, key: PrivateKey, crosses: [Certificate] = []) throws(MaterialFault) {
        guard certificate.isAuthority else {
            throw MaterialFault(
                "holds a certificate that may not certify hosts (\(certificate.subject)): it is no CA's")
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

    /// Certificates that are sent behind a leaf. Its own is among them where it is not a root, which clients have.
    public var chain: [Certificate] { (certificate.isSelfIssued ? [] : [certificate]) + crosses }

    // MARK: making

    /// A new root that is valid for two years, and was for two days.
    /// - Parameters:
    ///   - name: what its common name begins with, cut after 50 characters. Eight random hexadecimal digits follow: two
    ///     roots with one name would be taken for each other.
    ///   - key: its key, where it is not to be a new one on the curve P-256.
    ///   - now: Unix seconds.
    /// - Throws: `MaterialFault` where it cannot be made with that key.
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

    /// A new root with a new key. This authority vouches for it as long as it is valid itself, so that who trusts either of
    /// them verifies what the new one makes. What this one is bound to binds the new one too for those who trust this one.
    /// - Parameter now: Unix seconds.
    public func rotated(constraints: NameConstraints?, now: Int) throws(MaterialFault) -> CertificateAuthority {
        let fresh = try Self.make(name: nameWithoutMark, constraints: constraints, now: now)
        // one that is over, or that may have no authority below it, can vouch for none
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
        // an authority of others need not have an identifier
        if !authorityKey.isEmpty { extensions.append(CertificateExtension.authorityKey(authorityKey)) }
        if let constraints { extensions.append(CertificateExtension.constraints(constraints)) }
        return extensions
    }

    /// A certificate for one host, valid for thirty days and not beyond the authority's own, and set back by two days.
    /// - Parameters:
    ///   - host: a DNS name in its ASCII form, `*` before it where it is for all names below, or an address.
    ///   - key: what the certificate is for.
    ///   - now: Unix seconds.
    /// - Throws: `MaterialFault` where that is no host, the authority may not speak for it, or is no longer valid.
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
    /// The subject's key identifier (RFC 5280 §4.2.1.2); empty where it has none.
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

    /// Whether this one's key made the other.
    fileprivate func signed(_ other: Certificate) -> Bool {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        return X509_check_issued(handle, other.handle) == X509_V_OK
            && X509_verify(other.handle, X509_get0_pubkey(handle)) == 1
    }
}
