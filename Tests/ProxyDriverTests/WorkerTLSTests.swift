import EventLoop
import Glibc
import HTTPCodec
import ProxyCore
import TLSEngine
import Testing

@testable import ProxyDriver

@Suite("TLS as one loop has it")
struct WorkerTLSTests {
    private let loop: Loop

    init() throws { loop = try Loop() }

    private func take(_ buffers: TLSBuffers) -> [UInt8] {
        defer { buffers.clearRecords() }
        return Array(buffers.records)
    }

    /// What the client has come to once neither side has anything to say.
    private func agree(_ client: TLSStream, _ server: TLSStream) -> TLSStream.State {
        let (near, far) = (TLSBuffers(), TLSBuffers())
        client.begin(near)
        var bytes = take(near)
        while !bytes.isEmpty {
            bytes.withUnsafeBytes { server.received($0, far) }
            bytes = take(far)
            if bytes.isEmpty { break }
            bytes.withUnsafeBytes { client.received($0, near) }
            bytes = take(near)
        }
        return client.state
    }

    private func authority(_ name: String) throws -> CertificateAuthority {
        try .make(name: name, constraints: nil, now: time(nil))
    }

    /// A client that trusts that authority alone.
    private func client(_ authority: CertificateAuthority) throws -> TLSStream {
        try OriginContext(
            usesSystemTrust: false, extraTrust: [authority.certificate], revocationLists: [], minimum: .tls12
        ).stream(to: "a.test", OriginDemands(), session: nil)
    }

    @Test func clientsAreShownCertificatesOfTheAuthorityInForce() throws {
        var material = try TestProxy.material()
        let security = WorkerTLS(material, on: loop)
        for name in ["One", "Other"] {
            let authority = try authority(name)
            material.leaves = try LeafStore(authority, capacity: 8)
            security.adopt(material)
            let server = try security.stream(showing: "a.test", speaking: [.http11])
            #expect(agree(try client(authority), server) == .open, "\(name)")
        }
    }

    @Test func aListenerShowsTheCertificateInForce() throws {
        var material = try TestProxy.material()
        let security = WorkerTLS(material, on: loop)
        for name in ["One", "Other"] {
            let authority = try authority(name)
            let key = try PrivateKey.makeP256()
            material.listener = try Identity(
                certificate: authority.leaf(for: "a.test", key: key, now: time(nil)), key: key)
            security.adopt(material)
            let server = try security.stream(listeningAs: "a.test", at: "127.0.0.1", speaking: [.http11])
            #expect(agree(try client(authority), server) == .open, "\(name)")
        }
    }

    /// The name that TLS asks for tells it from others at the same address.
    @Test func anOriginResumesItsOwnSession() throws {
        let world = try SecureWorld(for: "a.test")
        var material = try TestProxy.material()
        material.origins = world.trusting
        let security = WorkerTLS(material, on: loop)
        let server = try world.server(SecretBytes(random: 32))
        var named = Origin(scheme: .https, host: "192.0.2.1", port: 443)
        named.serverName = "a.test"
        for isResumed in [false, true] {
            let client = try security.stream(to: named, speaking: [.http11])
            #expect(agree(client, try world.stream(server)) == .open)
            #expect(client.negotiated?.isResumed == isResumed)
            security.keep(try #require(client.takeSession()), for: named)
        }
    }
}
