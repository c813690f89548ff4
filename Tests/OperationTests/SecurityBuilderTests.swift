import Configuration
import Foundation
import ProxyDriver
import TLSEngine
import Testing

@testable import Operation

/// What a reload takes over of the certificates that clients are shown, and what it makes anew.
@Suite("Certificates over reloads")
struct SecurityBuilderTests {
    private let folder: TemporaryFolder
    private let builder: SecurityBuilder

    init() throws {
        folder = try TemporaryFolder()
        builder = SecurityBuilder(environment: ["STATE_DIRECTORY": folder.path])
    }

    private func snapshot(keeping certificates: Int = 10) throws -> Snapshot {
        let text = """
            version: 1
            tls: { intercept: ["*.example.com"] }
            limits: { leaf_certificates: \(certificates) }
            """
        return try ConfigurationLoader.load(
            text: text, file: "usher.yaml", environment: [:],
            readFile: { _ throws(FileFault) in FileContent(bytes: [], isWorldReadable: false) }
        ).get()
    }

    private func next(_ snapshot: Snapshot, after previous: TLSMaterial?) throws -> TLSMaterial {
        let leaves = try builder.leaves(for: snapshot, isListenerSecure: false, previous: previous).0
        return try builder.material(for: snapshot, leaves: leaves, previous: previous).0
    }

    @Test func whatIsTheSameIsKept() throws {
        let first = try next(snapshot(), after: nil)
        let second = try next(snapshot(), after: first)
        #expect(first.leaves != nil && second.leaves === first.leaves)
    }

    @Test func aNewAuthoritySigns() throws {
        let first = try next(snapshot(), after: nil)
        for name in ["ca.pem", "ca.key"] { try FileManager.default.removeItem(atPath: folder.file(name)) }
        let second = try next(snapshot(), after: first)
        #expect(second.leaves?.authority.certificate.der != first.leaves?.authority.certificate.der)
        let third = try next(snapshot(), after: second)
        #expect(third.leaves === second.leaves)
    }

    @Test func anotherBoundHolds() throws {
        let first = try next(snapshot(keeping: 10), after: nil)
        let second = try next(snapshot(keeping: 20), after: first)
        #expect(first.leaves?.capacity == 10 && second.leaves?.capacity == 20)
        #expect(second.leaves?.authority.certificate.der == first.leaves?.authority.certificate.der)
    }
}
