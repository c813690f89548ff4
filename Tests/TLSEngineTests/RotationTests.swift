import COpenSSL
import Testing

@testable import TLSEngine

/// Whoever trusts an old root or a new one verifies what the new authority makes.
struct RotationTests {
    private static let now = 1_800_000_000
    private static let day = 86_400

    private func verdict(
        _ maker: CertificateAuthority, trusting roots: [CertificateAuthority], at now: Int = now,
        sending chain: [Certificate]? = nil
    ) throws -> Int32 {
        let leaf = try maker.leaf(for: "www.example.com", key: .makeP256(), now: now)
        return try Verifier.verdict(
            on: leaf, sent: chain ?? maker.chain, trusting: roots.map(\.certificate), host: "www.example.com", now: now)
    }

    @Test("After one rotation both roots lead to the new authority's leaves")
    func once() throws {
        let old = try CertificateAuthority.make(name: "Usher CA (here)", constraints: nil, now: Self.now)
        let new = try old.rotated(constraints: nil, now: Self.now + Self.day)
        #expect(ErrorQueue.isEmpty)
        #expect(new.certificate.publicKeyDigest != old.certificate.publicKeyDigest)
        #expect(new.certificate.subject.wholeMatch(of: /CN=Usher CA \(here\) [0-9a-f]{8}/) != nil)
        #expect(new.certificate.subject != old.certificate.subject)
        #expect(new.crosses.count == 1)
        let cross = try #require(new.crosses.first)
        #expect(cross.subject == new.certificate.subject)
        #expect(cross.publicKeyDigest == new.certificate.publicKeyDigest)
        #expect(cross.issuer == old.certificate.subject)
        #expect(cross.isAuthority && !cross.isSelfIssued)
        #expect(cross.notAfter == old.certificate.notAfter)
        #expect(cross.notBefore == new.certificate.notBefore)

        let later = Self.now + Self.day
        #expect(try verdict(new, trusting: [old], at: later) == X509_V_OK)
        #expect(try verdict(new, trusting: [new], at: later) == X509_V_OK)
        #expect(try verdict(new, trusting: [old, new], at: later) == X509_V_OK)
        // it is the cross certificate that does it
        #expect(
            try verdict(new, trusting: [old], at: later, sending: [])
                == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY)
        let stranger = try CertificateAuthority.make(name: "Usher CA (here)", constraints: nil, now: Self.now)
        #expect(try verdict(new, trusting: [stranger], at: later) != X509_V_OK)
        // what the old authority made before still verifies
        #expect(try verdict(old, trusting: [old], at: later) == X509_V_OK)
    }

    @Test("After several rotations every root that the chain reaches verifies, and the chain stays short")
    func often() throws {
        var authorities = [try CertificateAuthority.make(name: "Usher CA", constraints: nil, now: Self.now)]
        for turn in 1...6 {
            let next = try #require(authorities.last).rotated(constraints: nil, now: Self.now + turn * Self.day)
            #expect(next.crosses.count == min(turn, 4))
            authorities.append(next)
        }
        let later = Self.now + 7 * Self.day
        for (index, maker) in authorities.enumerated() {
            for (age, root) in authorities[...index].reversed().enumerated() {
                let code = try verdict(maker, trusting: [root], at: later)
                if age <= 4 { #expect(code == X509_V_OK, "\(index) by \(age)") } else { #expect(code != X509_V_OK) }
            }
        }
        let last = try #require(authorities.last)
        let again = try CertificateAuthority(
            certificate: last.certificate, key: last.key,
            crosses: Certificate.all(inPEM: last.crosses.flatMap(\.pem)))
        #expect(again.chain.map(\.der) == last.chain.map(\.der))
        #expect(throws: MaterialFault.self) {
            try CertificateAuthority(certificate: last.certificate, key: last.key, crosses: last.crosses.reversed())
        }
    }

    @Test("A cross certificate ends with the root that signed it, and none is made by one that is over")
    func ends() throws {
        let old = try CertificateAuthority.make(name: "Usher CA", constraints: nil, now: Self.now)
        let end = old.certificate.notAfter
        let new = try old.rotated(constraints: nil, now: end - Self.day)
        #expect(new.crosses.first?.notAfter == end)
        #expect(try verdict(new, trusting: [old], at: end - 10) == X509_V_OK)
        #expect(try verdict(new, trusting: [new], at: end + 10) == X509_V_OK)
        #expect(try new.rotated(constraints: nil, now: end + Self.day).crosses.count == 1)
        #expect(try old.rotated(constraints: nil, now: end).crosses.isEmpty)
    }

    @Test("A root that another key made rotates too: RSA to P-256")
    func kinds() throws {
        let old = try CertificateAuthority.make(name: "Corporate", constraints: nil, key: KeyForms.rsa(), now: Self.now)
        let new = try old.rotated(constraints: nil, now: Self.now)
        #expect(Verifier.signature(try #require(new.crosses.first)) == NID_sha256WithRSAEncryption)
        #expect(Verifier.signature(new.certificate) == NID_ecdsa_with_SHA256)
        #expect(try verdict(new, trusting: [old]) == X509_V_OK)
    }

    @Test("The old root's bounds hold for those who trust it, the new one's for all")
    func bounds() throws {
        let old = try CertificateAuthority.make(
            name: "Usher CA", constraints: NameConstraints(["example.com"]), now: Self.now)
        let wider = try old.rotated(constraints: NameConstraints(["example.com", "example.org"]), now: Self.now)
        let leaf = try wider.leaf(for: "www.example.org", key: .makeP256(), now: Self.now)
        func verdict(_ leaf: Certificate, _ maker: CertificateAuthority, _ root: CertificateAuthority) throws -> Int32 {
            try Verifier.verdict(on: leaf, sent: maker.chain, trusting: [root.certificate], now: Self.now)
        }
        #expect(try verdict(leaf, wider, wider) == X509_V_OK)
        #expect(try verdict(leaf, wider, old) == X509_V_ERR_PERMITTED_VIOLATION)
        #expect(wider.crosses.first?.nameConstraints == ["example.com", "example.org"])
        let free = try old.rotated(constraints: nil, now: Self.now)
        #expect(free.certificate.nameConstraints == [])
        #expect(Verifier.isCritical(NID_name_constraints, in: free.certificate) == nil)
    }
}
