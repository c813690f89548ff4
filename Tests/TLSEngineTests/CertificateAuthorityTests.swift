import COpenSSL
import Testing

@testable import TLSEngine

struct CertificateAuthorityTests {
    private static let now = 1_800_000_000
    private static let day = 86_400
    private let authority: CertificateAuthority
    private let key: PrivateKey

    init() throws {
        authority = try .make(name: "Usher CA (here)", constraints: nil, now: Self.now)
        key = try .makeP256()
    }

    private func verdict(
        _ leaf: Certificate, by authority: CertificateAuthority, for host: String, at now: Int = now
    ) throws -> Int32 {
        try Verifier.verdict(
            on: leaf, sent: authority.chain, trusting: [authority.certificate], host: host, now: now)
    }

    @Test("A root is a root: version, names, times, extensions")
    func root() throws {
        let root = authority.certificate
        #expect(ErrorQueue.isEmpty)
        #expect(X509_get_version(root.handle) == 2)
        #expect(root.isAuthority && root.isSelfIssued)
        #expect(root.subject.wholeMatch(of: /CN=Usher CA \(here\) [0-9a-f]{8}/) != nil)
        #expect(root.notBefore == Self.now - 2 * Self.day)
        #expect(root.notAfter == Self.now + 730 * Self.day)
        #expect(X509_get_pathlen(root.handle) == -1)
        #expect(X509_get_key_usage(root.handle) == UInt32(KU_KEY_CERT_SIGN | KU_CRL_SIGN))
        #expect(Verifier.isCritical(NID_basic_constraints, in: root) == true)
        #expect(Verifier.isCritical(NID_key_usage, in: root) == true)
        #expect(Verifier.isCritical(NID_subject_key_identifier, in: root) == false)
        #expect(Verifier.isCritical(NID_authority_key_identifier, in: root) == false)
        #expect(Verifier.isCritical(NID_name_constraints, in: root) == nil)
        #expect(Verifier.signature(root) == NID_ecdsa_with_SHA256)
        #expect(try Verifier.serial(root).count == 16)
        #expect(authority.chain.isEmpty)
        #expect(X509_self_signed(root.handle, 1) == 1)
    }

    @Test("Two roots of one name differ, and a long name is cut")
    func names() throws {
        let long = String(repeating: "ü", count: 200)
        let one = try CertificateAuthority.make(name: long, constraints: nil, now: Self.now)
        let two = try CertificateAuthority.make(name: long, constraints: nil, now: Self.now)
        #expect(one.certificate.subject != two.certificate.subject)
        #expect(one.certificate.commonName?.hasPrefix(String(repeating: "ü", count: 50) + " ") == true)
        #expect(one.certificate.commonName?.count == 59)
    }

    @Test("A leaf is a server's certificate and nothing else")
    func leaf() throws {
        let leaf = try authority.leaf(for: "www.example.com", key: key, now: Self.now)
        #expect(ErrorQueue.isEmpty)
        #expect(X509_get_version(leaf.handle) == 2)
        #expect(leaf.subject == "CN=www.example.com")
        #expect(leaf.issuer == authority.certificate.subject)
        #expect(leaf.names == ["www.example.com"])
        #expect(leaf.notBefore == Self.now - 2 * Self.day)
        #expect(leaf.notAfter == Self.now + 90 * Self.day)
        #expect(!leaf.isAuthority)
        #expect(X509_get_key_usage(leaf.handle) == UInt32(KU_DIGITAL_SIGNATURE))
        #expect(X509_get_extended_key_usage(leaf.handle) == UInt32(XKU_SSL_SERVER))
        #expect(Verifier.isCritical(NID_basic_constraints, in: leaf) == true)
        #expect(Verifier.isCritical(NID_key_usage, in: leaf) == true)
        #expect(Verifier.isCritical(NID_ext_key_usage, in: leaf) == false)
        #expect(Verifier.isCritical(NID_subject_alt_name, in: leaf) == false)
        #expect(Verifier.isCritical(NID_subject_key_identifier, in: leaf) == false)
        let byAuthority = try #require(X509_get0_authority_key_id(leaf.handle))
        let ofAuthority = try #require(X509_get0_subject_key_id(authority.certificate.handle))
        #expect(ASN1_OCTET_STRING_cmp(byAuthority, ofAuthority) == 0)
        #expect(X509_get0_authority_issuer(leaf.handle) == nil)
        #expect(Verifier.signature(leaf) == NID_ecdsa_with_SHA256)
        #expect(key.fits(leaf))
        #expect(try Verifier.serial(leaf).count == 16)
        #expect(try verdict(leaf, by: authority, for: "www.example.com") == X509_V_OK)
        #expect(try verdict(leaf, by: authority, for: "example.com") == X509_V_ERR_HOSTNAME_MISMATCH)
    }

    @Test("No two serial numbers are the same, and each is positive")
    func serials() throws {
        let serials = try (0..<50).map { _ in
            try Verifier.serial(authority.leaf(for: "a.example", key: key, now: Self.now))
        }
        #expect(Set(serials).count == 50)
        #expect(serials.allSatisfy { $0.count == 16 && (0x40...0x7F).contains($0[0]) })
    }

    @Test(
        "Every kind of host verifies as itself",
        arguments: [
            ("WWW.Example.COM.", "www.example.com", "www.example.com"),
            ("localhost", "localhost", "localhost"),
            ("*.example.com", "*.example.com", "any.example.com"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("under_score.example", "under_score.example", "under_score.example"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.7"),
            ("2001:DB8:0::7", "2001:db8::7", "2001:db8::7"),
            ("[::1]", "::1", "::1"),
        ])
    func hosts(_ host: String, _ name: String, _ asked: String) throws {
        let leaf = try authority.leaf(for: host, key: key, now: Self.now)
        #expect(leaf.names == [name])
        #expect(try verdict(leaf, by: authority, for: asked) == X509_V_OK)
        let isAddress = CertifiedHost(host).map { $0.commonName == nil } ?? false
        #expect(leaf.subject == (isAddress ? "" : "CN=\(name)"))
        #expect(Verifier.isCritical(NID_subject_alt_name, in: leaf) == isAddress)
    }

    @Test("A name that no subject has room for stands in the alternative name alone, which is critical then")
    func longName() throws {
        let label = String(repeating: "a", count: 63)
        let names = [
            ("\(label).b", "CN=\(label).b"), ("\(label).example", ""),
            ("\(label).\(label).\(label).\(label.dropLast(2))", ""),
        ]
        for (name, subject) in names {
            let leaf = try authority.leaf(for: name, key: key, now: Self.now)
            #expect(leaf.subject == (name.utf8.count <= 64 ? subject : ""))
            #expect(leaf.names == [name])
            #expect(Verifier.isCritical(NID_subject_alt_name, in: leaf) == (name.utf8.count > 64))
            #expect(try verdict(leaf, by: authority, for: name) == X509_V_OK)
        }
    }

    @Test(
        "What is no host gets no certificate",
        arguments: [
            "", ".", "..", "a..b", ".example.com", "bücher.example", "a b", "a\0b", "*", "*.", "a.*.b", "**.a", "w*.a",
            "example.com:443", "[192.0.2.1]", "[::1", "::1%eth0", "a/b", "1:2",
            "\(String(repeating: "a", count: 64)).b",
            String(repeating: "a.", count: 127) + "bc",
        ])
    func noHosts(_ host: String) {
        do throws(MaterialFault) {
            _ = try authority.leaf(for: host, key: key, now: Self.now)
            Issue.record("made")
        } catch {
            #expect(error.words.hasPrefix("cannot be made: \""))
            #expect(error.words.hasSuffix(" is neither a DNS name in ASCII nor an address"))
        }
        #expect(ErrorQueue.isEmpty)
    }

    @Test("A leaf lives within its authority's time")
    func lifetimes() throws {
        let root = authority.certificate
        let early = try authority.leaf(for: "a.example", key: key, now: root.notBefore + 10)
        #expect(early.notBefore == root.notBefore)
        let late = try authority.leaf(for: "a.example", key: key, now: root.notAfter - 10)
        #expect(late.notAfter == root.notAfter)
        #expect(try verdict(late, by: authority, for: "a.example", at: root.notAfter - 5) == X509_V_OK)
        #expect(throws: MaterialFault("cannot be made: the CA has expired; make another with usher ca rotate")) {
            try authority.leaf(for: "a.example", key: key, now: root.notAfter)
        }
    }

    @Test("A key that is brought along signs as keys of its kind do")
    func otherKeys() throws {
        let kinds: [(PrivateKey, Int32)] = [
            (try KeyForms.rsa(), NID_sha256WithRSAEncryption), (try KeyForms.curve("P-256"), NID_ecdsa_with_SHA256),
            (try KeyForms.curve("P-384"), NID_ecdsa_with_SHA384), (try KeyForms.curve("P-521"), NID_ecdsa_with_SHA512),
        ]
        for (own, signature) in kinds {
            let other = try CertificateAuthority.make(name: "Other", constraints: nil, key: own, now: Self.now)
            #expect(own.fits(other.certificate))
            let leaf = try other.leaf(for: "a.example", key: key, now: Self.now)
            #expect(Verifier.signature(other.certificate) == signature)
            #expect(Verifier.signature(leaf) == signature)
            #expect(try verdict(leaf, by: other, for: "a.example") == X509_V_OK)
            // the leaf's key may be of any kind that TLS has
            let rare = try other.leaf(for: "a.example", key: own, now: Self.now)
            #expect(try verdict(rare, by: other, for: "a.example") == X509_V_OK)
        }
        #expect(ErrorQueue.isEmpty)
    }

    @Test("A key that clients do not verify makes no authority")
    func badKeys() throws {
        let kinds: [(PrivateKey, String)] = [
            (try KeyForms.ed25519(), "cannot sign with a key of this kind; take one on the curve P-256, or RSA"),
            (
                try KeyForms.rsa(1024),
                "cannot sign with a key that is an RSA key of 1024 bits; take one on the curve P-256, or RSA of 2048 bits or more"
            ),
            (
                try KeyForms.curve("P-224"),
                "cannot sign with a key that is on a curve of 224 bits; take one on the curve P-256, or RSA of 2048 bits or more"
            ),
        ]
        for (own, words) in kinds {
            #expect(throws: MaterialFault(words)) {
                try CertificateAuthority.make(name: "Other", constraints: nil, key: own, now: Self.now)
            }
            #expect(ErrorQueue.isEmpty)
        }
    }

    @Test("An authority comes back from its parts, and from no others")
    func parts() throws {
        let other = try CertificateAuthority.make(name: "Other", constraints: nil, now: Self.now)
        let again = try CertificateAuthority(
            certificate: Certificate(der: authority.certificate.der), key: PrivateKey(pem: authority.key.pem()))
        let leaf = try again.leaf(for: "a.example", key: key, now: Self.now)
        #expect(try verdict(leaf, by: authority, for: "a.example") == X509_V_OK)
        #expect(throws: MaterialFault("holds a certificate that is not for the CA's key")) {
            try CertificateAuthority(certificate: authority.certificate, key: other.key)
        }
        #expect(
            throws: MaterialFault(
                "holds a certificate that may not certify hosts (CN=a.example): it does not belong to a CA")
        ) {
            try CertificateAuthority(certificate: leaf, key: key)
        }
        #expect(throws: MaterialFault.self) {
            try CertificateAuthority(
                certificate: authority.certificate, key: authority.key, crosses: [other.certificate])
        }
        #expect(ErrorQueue.isEmpty)
    }

    @Test("An authority below another sends its own certificate along")
    func intermediate() throws {
        let own = try PrivateKey.makeP256()
        let root = authority.certificate
        func below(_ extra: [[UInt8]]) throws -> CertificateAuthority {
            let draft = CertificateDraft(
                subject: CertificateDraft.name("Below"),
                issuer: Encoded.bytes { i2d_X509_NAME(X509_get_subject_name(root.handle), $0) },
                publicKeyInfo: own.publicKeyInfo, notBefore: root.notBefore, notAfter: root.notAfter,
                extensions: [CertificateExtension.signsCertificates] + extra)
            return try CertificateAuthority(certificate: draft.signed(by: authority.key), key: own)
        }
        let plain = try below([
            CertificateExtension.isAuthority, CertificateExtension.key(own.identifier),
            CertificateExtension.authorityKey(authority.key.identifier),
        ])
        #expect(plain.chain.map(\.der) == [plain.certificate.der])
        func verdict(_ by: CertificateAuthority) throws -> Int32 {
            try Verifier.verdict(
                on: by.leaf(for: "a.example", key: key, now: Self.now), sent: by.chain, trusting: [root],
                host: "a.example", now: Self.now)
        }
        #expect(try verdict(plain) == X509_V_OK)
        #expect(try verdict(plain.rotated(constraints: nil, now: Self.now)) == X509_V_OK)

        // one that may have no authority below itself (pathLenConstraint 0) vouches for none
        let last = try below([
            DER.sequence(
                DER.identifier([0x55, 0x1D, 0x13]), DER.yes,
                DER.octets(DER.sequence(DER.yes, [0x02, 0x01, 0x00]))),
            CertificateExtension.key(own.identifier), CertificateExtension.authorityKey(authority.key.identifier),
        ])
        #expect(try verdict(last) == X509_V_OK)
        #expect(try last.rotated(constraints: nil, now: Self.now).chain.isEmpty)
    }
}
