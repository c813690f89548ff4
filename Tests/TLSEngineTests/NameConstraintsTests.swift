import COpenSSL
import Testing

@testable import TLSEngine

/// What the value says and what OpenSSL's verifier holds are compared case by case.
struct NameConstraintsTests {
    private static let now = 1_800_000_000

    /// A leaf for any host at all: `CertificateAuthority.leaf` would refuse to make one out of bounds.
    private func verdict(
        on host: String, by authority: CertificateAuthority, key: PrivateKey
    ) throws -> Int32 {
        let free = try #require(CertifiedHost(host))
        let root = authority.certificate
        let draft = CertificateDraft(
            subject: CertificateDraft.name(free.commonName),
            issuer: Encoded.bytes { i2d_X509_NAME(X509_get_subject_name(root.handle), $0) },
            publicKeyInfo: key.publicKeyInfo, notBefore: Self.now, notAfter: Self.now + 100,
            extensions: [
                CertificateExtension.isLeaf, CertificateExtension.signsHandshakes, CertificateExtension.isServer,
                CertificateExtension.name(free, isCritical: free.commonName == nil),
                CertificateExtension.key(key.identifier), CertificateExtension.authorityKey(authority.key.identifier),
            ])
        return try Verifier.verdict(on: draft.signed(by: authority.key), trusting: [root], now: Self.now)
    }

    @Test(
        "OpenSSL holds what the value says",
        arguments: [
            (["example.com"], ["example.com", "www.example.com", "a.b.example.com", "*.example.com"]),
            (
                ["example.com", "corp"],
                ["example.com", "www.example.com", "a.b.example.com", "*.example.com", "corp", "am.corp"]
            ),
            (["a.b.example.com"], ["a.b.example.com"]),
            (["10.0.0.0/8"], ["10.1.2.3", "10.255.255.255"]),
            (["192.0.2.1"], ["192.0.2.1"]),
            (["192.0.2.0/31"], ["192.0.2.1"]),
            (["2001:db8::/33"], ["2001:db8::7"]),
            (["2001:db8::7"], ["2001:db8::7"]),
            (["0.0.0.0/0"], ["10.1.2.3", "10.255.255.255", "11.0.0.1", "192.0.2.1", "192.0.2.2"]),
            (["::/0"], ["2001:db8::7", "2001:db8:8000::", "::1"]),
            (
                ["example.com", "10.0.0.0/8"],
                ["example.com", "www.example.com", "a.b.example.com", "*.example.com", "10.1.2.3", "10.255.255.255"]
            ),
            (["corp", "::1", "192.0.2.1"], ["corp", "am.corp", "::1", "192.0.2.1"]),
        ] as [([String], [String])])
    func same(_ entries: [String], _ permitted: [String]) throws {
        let hosts = [
            "example.com", "www.example.com", "a.b.example.com", "*.example.com", "notexample.com",
            "example.com.evil.org",
            "com", "corp", "am.corp", "10.1.2.3", "10.255.255.255", "11.0.0.1", "192.0.2.1", "192.0.2.2", "2001:db8::7",
            "2001:db8:8000::", "::1",
        ]
        let constraints = try NameConstraints(entries)
        let authority = try CertificateAuthority.make(name: "Bound", constraints: constraints, now: Self.now)
        #expect(authority.certificate.nameConstraints == entries)
        #expect(Verifier.isCritical(NID_name_constraints, in: authority.certificate) == true)
        let key = try PrivateKey.makeP256()
        for host in hosts {
            let code = try verdict(on: host, by: authority, key: key)
            #expect(permitted.contains(host) == constraints.permits(host), "\(host)")
            if constraints.permits(host) {
                #expect(code == X509_V_OK, "\(host)")
                let leaf = try authority.leaf(for: host, key: key, now: Self.now)
                #expect(
                    try Verifier.verdict(on: leaf, trusting: [authority.certificate], now: Self.now) == X509_V_OK)
            } else {
                #expect([X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION].contains(code), "\(host)")
                #expect(throws: MaterialFault.self) { try authority.leaf(for: host, key: key, now: Self.now) }
            }
        }
        #expect(ErrorQueue.isEmpty)
    }

    @Test("Names alone exclude every address, and addresses alone every name")
    func kinds() throws {
        let key = try PrivateKey.makeP256()
        let names = try CertificateAuthority.make(
            name: "Bound", constraints: NameConstraints(["example.com"]), now: Self.now)
        #expect(try verdict(on: "notexample.com", by: names, key: key) == X509_V_ERR_PERMITTED_VIOLATION)
        #expect(try verdict(on: "127.0.0.1", by: names, key: key) == X509_V_ERR_EXCLUDED_VIOLATION)
        #expect(try verdict(on: "::1", by: names, key: key) == X509_V_ERR_EXCLUDED_VIOLATION)
        let addresses = try CertificateAuthority.make(
            name: "Bound", constraints: NameConstraints(["10.0.0.0/8"]), now: Self.now)
        #expect(try verdict(on: "example.com", by: addresses, key: key) == X509_V_ERR_EXCLUDED_VIOLATION)
    }

    @Test("A refusal names the host, the bounds and the remedy")
    func words() throws {
        let authority = try CertificateAuthority.make(
            name: "Bound", constraints: NameConstraints(["example.com", "10.0.0.0/8"]), now: Self.now)
        #expect(
            throws: MaterialFault(
                "cannot be made: the CA is bound to example.com, 10.0.0.0/8, and www.example.org is none of those; extend "
                    + "tls.ca.constrain_to and make another CA with usher ca rotate")
        ) { try authority.leaf(for: "www.example.org", key: .makeP256(), now: Self.now) }
    }

    @Test("Entries are kept in one spelling, each once")
    func spelling() throws {
        let constraints = try NameConstraints([
            "Example.COM", "example.com", "example.com.", "2001:DB8:0::/32", "192.0.2.1/32", "192.0.2.1",
            "::ffff:10.0.0.0/104",
        ])
        #expect(constraints.entries == ["example.com", "2001:db8::/32", "192.0.2.1", "10.0.0.0/8"])
        let authority = try CertificateAuthority.make(name: "Bound", constraints: constraints, now: Self.now)
        #expect(Set(authority.certificate.nameConstraints) == Set(constraints.entries))
        #expect(constraints.permits("WWW.EXAMPLE.com."))
        #expect(constraints.permits("[2001:db8::1]"))
        #expect(!constraints.permits(""))
        #expect(!constraints.permits("a b.example.com"))
    }

    @Test(
        "What no certificate can be bound to",
        arguments: [
            ([], "is constrained to nothing; name a host"),
            (
                ["*.example.com"],
                "cannot be constrained to *.example.com; write example.com, which permits every name below it as well"
            ),
            (
                [".example.com"],
                "cannot be constrained to .example.com; write example.com, which permits every name below it as well"
            ),
            (["example.com", ""], "cannot be constrained to , which is not a DNS name, an address or a CIDR block"),
            (
                ["bücher.example"],
                "cannot be constrained to bücher.example, which is not a DNS name, an address or a CIDR block"
            ),
            (
                ["10.0.0.1/8"],
                "cannot be constrained to 10.0.0.1/8, which is not a DNS name, an address or a CIDR block"
            ),
            (
                ["10.0.0.0/33"],
                "cannot be constrained to 10.0.0.0/33, which is not a DNS name, an address or a CIDR block"
            ),
            (["[::1]"], "cannot be constrained to [::1], which is not a DNS name, an address or a CIDR block"),
            (["*.*.a"], "cannot be constrained to *.*.a, which is not a DNS name, an address or a CIDR block"),
        ] as [([String], String)])
    func refused(_ entries: [String], _ words: String) {
        #expect(throws: MaterialFault(words)) { try NameConstraints(entries) }
    }

    @Test("An authority that others bound in their own ways leaves the judgement to clients")
    func foreign() throws {
        // names alone, and nothing about addresses
        let value = DER.sequence(DER.context(0, DER.sequence(DER.value(0x82, Array("example.com".utf8)))))
        let key = try PrivateKey.makeP256()
        let name = CertificateDraft.name("Foreign")
        let draft = CertificateDraft(
            subject: name, issuer: name, publicKeyInfo: key.publicKeyInfo, notBefore: Self.now,
            notAfter: Self.now + 1_000_000,
            extensions: [
                CertificateExtension.isAuthority, CertificateExtension.signsCertificates,
                CertificateExtension.key(key.identifier), CertificateExtension.authorityKey(key.identifier),
                DER.sequence(DER.identifier([0x55, 0x1D, 0x1E]), DER.yes, DER.octets(value)),
            ])
        let authority = try CertificateAuthority(certificate: draft.signed(by: key), key: key)
        #expect(authority.certificate.nameConstraints == ["example.com"])
        let leaf = try authority.leaf(for: "192.0.2.1", key: key, now: Self.now)
        #expect(try Verifier.verdict(on: leaf, trusting: [authority.certificate], now: Self.now) == X509_V_OK)
    }

    @Test("An unbound certificate is bound to nothing")
    func unbound() throws {
        let authority = try CertificateAuthority.make(name: "Free", constraints: nil, now: Self.now)
        #expect(authority.certificate.nameConstraints == [])
        #expect(ErrorQueue.isEmpty)
    }
}
