import Configuration
import Foundation
import ProxyCore
import TLSEngine
import Testing

/// What other programs write: containers, encrypted keys and revocation lists, made by the command line of OpenSSL.
@Suite struct TLSContainerTests {
    /// A folder of its own with `app.pem`, `app.key`, `app.p12` and so on.
    private static func made() throws -> [String: FileContent] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "usher-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("[ca]\ndefault_ca = own\n[own]\ndatabase = index\ndefault_md = sha256\ndefault_crl_days = 30\n".utf8)
            .write(to: folder.appending(path: "ca.cnf"))
        try Data().write(to: folder.appending(path: "index"))
        for line in [
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj /CN=app.test -days 30 -keyout app.key -out app.pem",
            "pkcs12 -export -in app.pem -inkey app.key -passout pass:opensesame -out app.p12",
            "pkcs12 -export -in app.pem -inkey app.key -passout pass: -out open.P12",
            "pkey -in app.key -aes256 -passout pass:opensesame -out locked.key",
            "ca -config ca.cnf -gencrl -keyfile app.key -cert app.pem -out app.crl",
            "crl -in app.crl -outform DER -out der.crl", "pkey -in app.key -outform DER -out der.key",
        ] {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["openssl"] + line.split(separator: " ").map(String.init)
            process.currentDirectoryURL = folder
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0, "openssl \(line)")
        }
        var files: [String: FileContent] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            files[name] = FileContent(bytes: Array(try Data(contentsOf: folder.appending(path: name))))
        }
        files["password"] = FileContent(bytes: Array("opensesame\n".utf8))
        return files
    }

    static let files = Result { try made() }

    private func load(_ tls: String) throws -> Result<Snapshot, ConfigurationFaults> {
        ConfigurationTests.load(
            "version: 1\ntls: { \(tls) }", environment: ["WRONG": "hunter2", "RIGHT": "opensesame", "NONE": ""],
            files: try Self.files.get())
    }

    private func fault(_ tls: String) throws -> String {
        guard case .failure(let faults) = try load(tls) else { return "" }
        return lines(faults)
    }

    @Test(arguments: [
        #"certificate: app.p12, password: "${file:password}""#, #"certificate: app.p12, password: "${env.RIGHT}""#,
        "certificate: open.P12", #"certificate: app.pem, key: locked.key, password: "${file:password}""#,
        "certificate: app.pem, key: app.key",
    ])
    func identitiesAreRead(_ written: String) throws {
        let snapshot = try load("client_certificates: [{ host: a.test, \(written) }]").get()
        #expect(snapshot.tls.origins.identities.map(\.identity.certificate.commonName) == ["app.test"])
        #expect(snapshot.warnings.isEmpty)
    }

    @Test(arguments: [
        (#"certificate: app.p12, password: "${env.WRONG}""#, "2:59: error: the file app.p12 "),
        ("certificate: app.p12", "2:59: error: the file app.p12 "),
        (#"certificate: app.pem, key: locked.key, password: "${env.WRONG}""#, "2:73: error: the key file locked.key "),
        ("certificate: app.pem, key: locked.key", "2:73: error: the key file locked.key "),
        ("certificate: app.pem, key: der.key", "2:73: error: the key file der.key "),
    ])
    func faultsOfIdentities(_ written: String, _ expected: String) throws {
        let found = try fault("client_certificates: [{ host: a.test, \(written) }]")
        #expect(found.hasPrefix("usher.yaml:\(expected)"), "\(found)")
        #expect(!found.contains("hunter2"))
    }

    @Test func revocationLists() throws {
        let origins = try load("upstream: { crl: [app.crl, der.crl] }").get().tls.origins
        #expect(origins.revocationLists.count == 2)
        #expect(try fault("upstream: { crl: app.pem }").hasPrefix("usher.yaml:2:25: error: the file app.pem "))
    }
}
