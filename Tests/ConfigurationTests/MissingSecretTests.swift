import Configuration
import ProxyCore
import Testing

@testable import Configuration
@testable import Declaration

/// Who only looks at a configuration needs none of its secrets.
@Suite struct MissingSecretTests {
    private static var nothing: FileReading { { _ throws(FileFault) in throw .missing } }

    private func looked(
        _ text: String, environment: [String: String] = [:], reading: @escaping FileReading = Self.nothing
    ) -> Result<Snapshot, ConfigurationFaults> {
        ConfigurationLoader.load(
            text: text, file: "usher.yaml", environment: environment, missing: .noted, readFile: reading)
    }

    private static let header = """
        version: 1
        interceptors: [{ name: a, request: [{ set_header: { A: "${env.A}", B: "${env.B}", C: "x${env.A}" } }] }]
        """

    @Test func eachIsNotedOnceWhereItIsFirstAskedFor() throws {
        let notes = try looked(Self.header).get().warnings
        #expect(
            notes.map(\.description) == [
                "usher.yaml:2:56: note: the environment variable A is not set; usher serve and usher run need it",
                "usher.yaml:2:71: note: the environment variable B is not set; usher serve and usher run need it",
            ])
        #expect(throws: ConfigurationFaults.self) { try load(Self.header).get() }
    }

    @Test func whatStandsInIsOneTextForEachAndShownNowhere() throws {
        let snapshot = try looked(Self.header).get()
        let secrets = snapshot.settings.disclosure.secrets
        #expect(secrets.count == 2 && Set(secrets).count == 2)
    }

    @Test(
        "A file that this user may not read, or that is not there",
        arguments: [FileFault.missing, .forbidden])
    func files(_ fault: FileFault) throws {
        let text = """
            version: 1
            clients: { basic: { users: "${file:/users}" } }
            admin: { listen: "127.0.0.1:3130", token: "${credential.token}" }
            tls: { ca: { key: "${file:/ca.key}" } }
            """
        let reading: FileReading = { _ throws(FileFault) in throw fault }
        let notes = try looked(text, environment: ["CREDENTIALS_DIRECTORY": "/c"], reading: reading).get().warnings
        #expect(notes.map(\.line) == [2, 3, 4] && notes.allSatisfy { $0.severity == .note })
        #expect(notes.allSatisfy { $0.message.contains(fault.explanation) })
        let other = looked(text) { _ throws(FileFault) in throw .tooLarge }
        #expect(throws: ConfigurationFaults.self) { try other.get() }
    }

    @Test func aPathThatIsWrittenOutIsMisspeltWhereItLeadsNowhere() throws {
        let text = """
            version: 1
            listen: ["https://127.0.0.1:1"]
            tls: { listener: { certificate: server.pem, key: server.key } }
            """
        let files = try TLSContainerTests.files.get()
        func reading(_ fault: FileFault) -> FileReading {
            { path throws(FileFault) in
                guard path == "server.pem", let content = files["app.pem"] else { throw fault }
                return content
            }
        }
        #expect(throws: ConfigurationFaults.self) { try looked(text, reading: reading(.missing)).get() }
        let notes = try looked(text, reading: reading(.forbidden)).get().warnings
        #expect(notes.map(\.severity) == [.note])
    }

    @Test func whatIsWrongBesidesIsStillTold() {
        let outcome = looked(Self.header + "\nnonsense: 1\nworkers: ${file:}")
        guard case .failure(let faults) = outcome else {
            Issue.record("it stands")
            return
        }
        #expect(faults.diagnostics.filter { $0.severity == .error }.map(\.line) == [3, 4])
    }

    @Test func anyValueMayBeMissing() throws {
        let findings = Findings(file: "usher.yaml")
        let root = try #require(YAMLReader.read(EveryKeyTests.document, findings))
        var files = try TLSContainerTests.files.get()
        files["users"] = FileContent(bytes: Array("alice:\(ClientTests.hash)".utf8))
        let known = files
        let environment = [
            "PASSWORD": "opensesame", "STATE_KEY": "thirty-two bytes or more make a key",
            "TOKEN": "sixteen-bytes-or-more",
        ]
        func look(at root: YAMLNode) throws -> [Diagnostic] {
            let findings = Findings(file: "usher.yaml")
            let secrets = Secrets(
                environment: environment, folders: [],
                readFile: { path throws(FileFault) in
                    guard let content = known[path] else { throw .missing }
                    return content
                }, findings: findings, variables: ReadVariables(), missing: .noted)
            let walker = Walker(findings: findings, secrets: secrets)
            let fields = try #require(walker.object(root, KeyTable.root, path: ""))
            let material = MaterialReader(findings: findings, secrets: secrets, now: 1_800_000_000)
            _ = SnapshotBuilder(findings: findings, material: material, interceptors: ["code": Registered()])
                .snapshot(fields, file: "usher.yaml", generation: 1)
            return findings.diagnostics
        }
        let usual = Set(try look(at: root).map(\.description))
        var count = 0
        for (position, variant) in Self.variants(of: root) {
            count += 1
            let found = try look(at: variant).map(\.description).filter { !usual.contains($0) }
            let notes = found.filter { $0.contains(": note: the environment variable NOT_SET is not set;") }
            // a name that is told of is another one
            let others = found.filter { !notes.contains($0) && !$0.contains("\"${env.NOT_SET}\"") }
            #expect(others == [], "with nothing in line \(position.line), column \(position.column)")
            #expect(notes.count == 1)
        }
        #expect(count > 300)
    }

    /// The document with one of its values by a variable that is not set, for each of them.
    private static func variants(of node: YAMLNode) -> [(Position, YAMLNode)] {
        switch node.content {
        case .scalar:
            return [
                (
                    node.position,
                    YAMLNode(position: node.position, content: .scalar("${env.NOT_SET}", isPlain: false))
                )
            ]
        case .list(let items):
            return items.indices.flatMap { index in
                variants(of: items[index]).map { position, item in
                    var items = items
                    items[index] = item
                    return (position, YAMLNode(position: node.position, content: .list(items)))
                }
            }
        case .map(let entries):
            return entries.indices.flatMap { index in
                variants(of: entries[index].value).map { position, value in
                    var entries = entries
                    entries[index].value = value
                    return (position, YAMLNode(position: node.position, content: .map(entries)))
                }
            }
        }
    }
}
