import Authorization
import Configuration
import Formats
import Foundation
import Interception
import ProxyCore
import Testing

@Suite struct SecretTests {
    /// The value of a header that is written with `value`.
    private func header(
        _ value: String, file: String = "/etc/usher/usher.yaml", environment: [String: String] = [:],
        files: [String: FileContent] = [:]
    ) throws -> String? {
        let text = "version: 1\ninterceptors: [{ name: a, request: [{ set_header: { X: \"\(value)\" } }] }]"
        let snapshot = try load(text, file: file, environment: environment, files: files).get()
        return (snapshot.settings.rules.first?.request.first as? SetHeader)?.pairs.first?.value
    }

    @Test func everySourceIsFilledIn() throws {
        let environment = ["A": "one", "CREDENTIALS_DIRECTORY": "/run/credentials/usher"]
        let files = [
            "/run/credentials/usher/token": FileContent(bytes: Array("two\n".utf8), isWorldReadable: true),
            "/etc/usher/three": FileContent(bytes: Array("three\r\n".utf8)),
            "/srv/four": FileContent(bytes: Array("four\n\n".utf8)),
        ]
        #expect(try header("${env.A}", environment: environment) == "one")
        #expect(
            try header("<${env.A}|${credential.token}|${file:three}>", environment: environment, files: files)
                == "<one|two|three>")
        #expect(try header("${env.A}${env.A}", environment: environment) == "oneone")
        // one line break goes, and no more: the second is a control character in a header
        #expect(throws: ConfigurationFaults.self) { try header("${file:/srv/four}", files: files) }
    }

    @Test(
        "What is too short to be taken out of the log is told of, where it is a secret",
        arguments: [
            ("interceptors: [{ name: a, request: [{ set_header: { X: \"${file:s}\" } }] }]", "12345", true),
            ("interceptors: [{ name: a, request: [{ set_header: { X: \"${file:s}\" } }] }]", "123456", false),
            ("interceptors: [{ name: a, request: [{ set_header: { X: \"${env.S}\" } }] }]", "12345", false),
            ("workers: ${file:s}", "2", false),
            ("authorization: { answers: [{ callback: PasswordCallback, value: \"${env.S}\" }] }", "12345", true),
            ("authorization: { answers: [{ callback: PasswordCallback, value: \"${env.S}\" }] }", "123456", false),
            ("authorization: { answers: [{ callback: NameCallback, value: \"${env.S}\" }] }", "demo", false),
        ])
    func shortSecrets(_ keys: String, _ secret: String, _ isTold: Bool) throws {
        let snapshot = try load(
            "version: 1\nam: [{ url: \"http://am.test/am\" }]\n\(keys)", file: "/usher.yaml",
            environment: ["S": secret],
            files: ["//s": FileContent(bytes: Array("\(secret)\n".utf8))]
        ).get()
        let told = snapshot.warnings.filter { $0.message.contains("too short to be redacted in the log") }
        #expect(told.map(\.line) == (isTold ? [3] : []))
        #expect(!told.contains { $0.message.contains(secret) })
    }

    @Test("A place of a device may come out of the environment", arguments: [("51.45", true), ("north", false)])
    func numbers(_ latitude: String, _ isNumber: Bool) throws {
        let text = """
            version: 1
            am: [{ url: "http://localhost/am" }]
            authorization:
              resources: ["http://localhost/shop/*"]
              answers:
                - callback: DeviceProfileCallback
                  device: { identifier: d, location: { latitude: "${env.LATITUDE}", longitude: 2 } }
            """
        let loaded = load(text, environment: ["LATITUDE": latitude])
        guard isNumber else {
            #expect(throws: ConfigurationFaults.self) { try loaded.get() }
            return
        }
        guard case .device(let profile)? = try loaded.get().settings.authorization.first?.answers.first?.response else {
            Issue.record("no device answers")
            return
        }
        #expect(profile.location?["latitude"] == .number("51.45"))
    }

    @Test func relativePathsStartFromTheConfigurationFile() throws {
        let files = [
            "/three": FileContent(bytes: [0x61]), "x/three": FileContent(bytes: [0x62]),
            "three": FileContent(bytes: [0x63]),
        ]
        #expect(
            try header("${file:three}", file: "/usher.yaml", files: files.mapKeys { $0 == "/three" ? "//three" : $0 })
                == "a")
        #expect(try header("${file:three}", file: "x/usher.yaml", files: files) == "b")
        #expect(try header("${file:three}", file: "usher.yaml", files: files) == "c")
    }

    @Test func aSecretHasItsBound() throws {
        func file(_ count: Int) -> [String: FileContent] {
            ["/etc/usher/long": FileContent(bytes: [UInt8](repeating: 0x61, count: count))]
        }
        #expect(try header("${file:long}", files: file(64 << 10))?.utf8.count == 64 << 10)
        #expect(throws: ConfigurationFaults.self) { try header("${file:long}", files: file((64 << 10) + 1)) }
    }

    @Test func whatIsNoFileIsNotRead() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "usher-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = folder.appending(path: "usher.yaml").path()
        #expect(mkfifo(pipe, 0o600) == 0)
        for (path, words) in [(pipe, "is not a regular file"), (folder.path(), "is not a regular file")] {
            guard case .failure(let faults) = ConfigurationLoader.load(paths: [path], environment: [:]) else {
                Issue.record("\(path) was read")
                continue
            }
            #expect(lines(faults).contains(words))
        }
    }

    @Test func dollarsAreEscaped() throws {
        #expect(try header("$${env.A} $$ $1 $") == "${env.A} $$ $1 $")
        #expect(try header("$$${env.A}", environment: ["A": "x"]) == "$${env.A}")
    }

    @Test func numbersMayComeFromTheEnvironment() throws {
        let snapshot = try snapshot(
            "version: 1\nworkers: ${env.N}\ntimeouts: { idle: \"${env.T}\" }", environment: ["N": "2", "T": "7s"])
        #expect(snapshot.workers == 2)
        #expect(snapshot.settings.timeouts.idle == 7000)
    }

    @Test func aMissingCredentialFolderSaysHowToGiveIt() {
        let found = diagnosis("version: 1\nworkers: ${credential.n}\n")
        #expect(
            found == """
                usher.yaml:2:10: error: the credential n cannot be read because CREDENTIALS_DIRECTORY is not set; add \
                LoadCredential=n:PATH to the systemd unit, or set the variable to a folder with the file n

                """)
    }

    @Test func aNumberFromASecretIsNotRepeated() {
        let found = diagnosis("version: 1\ntimeouts: { idle: \"${env.PIN}\" }\n", environment: ["PIN": "271828"])
        #expect(found.contains("a number needs a unit") && !found.contains("271828"))
    }

    @Test func filesOnDiskAreJudged() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "usher-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = folder.appending(path: "usher.yaml")
        try Data("version: 1\nworkers: ${file:count}\n".utf8).write(to: configuration)
        func load() -> Result<Snapshot, ConfigurationFaults> {
            ConfigurationLoader.load(paths: [configuration.path], generation: 7, environment: [:])
        }
        func message() -> String? {
            if case .failure(let faults) = load() { faults.diagnostics.first?.message } else { nil }
        }
        let secret = folder.appending(path: "count")
        #expect(message() == "the secret file \(secret.path) does not exist")
        try Data("2\n".utf8).write(to: secret)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: secret.path)
        #expect(message()?.contains("is readable for every user") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
        let snapshot = try load().get()
        #expect(snapshot.workers == 2 && snapshot.generation == 7)

        try Data([0x76, 0x0A, 0x0A, 0xFF, 0x0A]).write(to: configuration)
        guard case .failure(let faults) = load() else { return #expect(Bool(false)) }
        #expect(faults.diagnostics.map(\.line) == [3])
        #expect(
            ConfigurationLoader.load(paths: ["/dev/null"], environment: [:]).fault == "the file is not a regular file")
        let missing = folder.appending(path: "none").path
        #expect(ConfigurationLoader.load(paths: [missing], environment: [:]).fault == "the file does not exist")
        try Data(repeating: 0x23, count: (1 << 20) + 1).write(to: configuration)
        #expect(load().fault?.hasPrefix("the file is larger than 1MiB") == true)
    }
}

extension Result<Snapshot, ConfigurationFaults> {
    fileprivate var fault: String? {
        if case .failure(let faults) = self { faults.diagnostics.first?.message } else { nil }
    }
}

extension Dictionary where Key == String {
    fileprivate func mapKeys(_ change: (String) -> String) -> [String: Value] {
        Dictionary(uniqueKeysWithValues: map { (change($0.key), $0.value) })
    }
}
