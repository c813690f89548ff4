import COpenSSL
import Glibc
import Testing

@testable import TLSEngine

/// RFC 9525 §2: a common name is no host's name, also where the certificate has no other.
@Suite("Certificates whose common name is the host")
struct CommonNameTests {
    private func leaf(_ world: World, named host: String?) throws -> Certificate {
        let authority = world.authority
        let draft = CertificateDraft(
            subject: CertificateDraft.name("a.test"),
            issuer: Encoded.bytes { i2d_X509_NAME(X509_get_subject_name(authority.certificate.handle), $0) },
            publicKeyInfo: world.key.publicKeyInfo, notBefore: world.began - 100, notAfter: world.began + 1_000,
            extensions: [
                CertificateExtension.isLeaf, CertificateExtension.signsHandshakes, CertificateExtension.isServer,
                CertificateExtension.key(world.key.identifier),
                CertificateExtension.authorityKey(authority.key.identifier),
            ] + (try host.map { [CertificateExtension.name(try #require(CertifiedHost($0)), isCritical: false)] } ?? [])
        )
        return try draft.signed(by: authority.key)
    }

    private func state(_ world: World, _ leaf: Certificate) throws -> TLSStream.State {
        let talk = Conversation(
            client: try world.origins.stream(to: "a.test", OriginDemands(), session: nil),
            server: try world.clients.stream(showing: leaf))
        talk.talk()
        return talk.client.state
    }

    /// None at all, another host's, and an address.
    @Test(arguments: [nil, "b.test", "192.0.2.1"])
    func itDoesNotCount(_ other: String?) throws {
        let world = try World()
        guard case .failed(let fault) = try state(world, leaf(world, named: other)) else {
            Issue.record("it was taken for the host")
            return
        }
        #expect(fault.kind == .certificate && fault.words.contains("wrong host"))
        if other == nil { #expect(fault.words.contains("the common name a.test, which does not count")) }
    }

    @Test func besideTheRightNameItDoesNoHarm() throws {
        let world = try World()
        #expect(try state(world, leaf(world, named: "a.test")) == .open)
    }
}
