import Configuration
import Foundation
import Interception
import ProxyCore
import Testing

@Suite("One configuration in several files")
struct SeveralFilesTests {
    private func load(_ texts: [String], files: [String: FileContent] = [:]) -> Result<Snapshot, ConfigurationFaults> {
        let sources = texts.enumerated().map { index, text in
            ConfigurationSource(text: text, file: "etc/\("abc".map(String.init)[index]).yaml")
        }
        return ConfigurationLoader.load(sources, environment: [:]) { path throws(FileFault) in
            guard let content = files[path] else { throw .missing }
            return content
        }
    }

    private func faults(_ texts: [String]) -> [String] {
        guard case .failure(let faults) = load(texts) else { return [] }
        return faults.diagnostics.map(\.description)
    }

    private func rule(_ name: String) -> String {
        "  - { name: \(name), request: [{ set_header: { X-Name: \(name) } }] }\n"
    }

    @Test func listsAreJoinedInTheOrderOfTheFiles() throws {
        let snapshot = try load([
            "version: 1\ninterceptors:\n" + rule("one"), "interceptors:\n" + rule("two") + rule("three"),
            "version: 1\ninterceptors:\n" + rule("four"),
        ]).get()
        #expect(snapshot.settings.rules.map(\.name) == ["one", "two", "three", "four"])
    }

    @Test func mapsAreMerged() throws {
        let snapshot = try load([
            "version: 1\ntls: { intercept: [a.test], upstream: { minimum: \"1.3\" } }\nlimits: { url: 8KiB }\n",
            "tls: { intercept: b.test, upstream: { verify: true } }\nlimits: { header: 64KiB }\n",
            "tls:\nlimits: {}\n",
        ]).get()
        #expect(snapshot.settings.interception.opens("a.test", port: 443))
        #expect(snapshot.settings.interception.opens("b.test", port: 443))
        #expect(snapshot.settings.limits.url == 8 << 10 && snapshot.settings.limits.header == 64 << 10)
        #expect(snapshot.file == "etc/a.yaml, etc/b.yaml, etc/c.yaml")
    }

    @Test func oneValueIsAListOfOneWhereEitherMayStand() throws {
        let snapshot = try load(["version: 1\nlisten: \"127.0.0.1:1\"\n", "listen: [\"127.0.0.1:2\"]\n"]).get()
        #expect(snapshot.listeners.map(\.port) == [1, 2])
    }

    @Test func whatStandsTwiceNamesBothPlaces() {
        let texts = [
            "version: 1\nworkers: 2\ninterceptors:\n" + rule("one"),
            "version: 1\nlog: { access: json }\ninterceptors:\n" + rule("one"), "workers: 2\nlog: { access: none }\n",
        ]
        #expect(
            faults(texts) == [
                "etc/b.yaml:4:13: error: the name \"one\" is already used by the interceptor of etc/a.yaml:4:13",
                "etc/c.yaml:1:10: error: workers is already in etc/a.yaml:2:10; set it only once",
                "etc/c.yaml:2:16: error: log.access is already in etc/b.yaml:2:16; set it only once",
            ])
    }

    @Test func faultsNameTheirFile() {
        #expect(
            faults(["version: 1\nwokers: 2\n", "limits: { url: lots }\n"]).map { $0.prefix(22) }
                == ["etc/a.yaml:2:1: error:", "etc/b.yaml:1:16: error"])
        #expect(
            faults(["version: 1\n", "- list\n"]) == [
                "etc/b.yaml:1:1: error: the file takes keys with values, found a list"
            ])
        #expect(
            faults(["version: 1\n", "a: [\n"]).first?.hasPrefix("etc/b.yaml:2:1: error: invalid YAML") == true)
        #expect(faults(["limits: {}\n", "log: {}\n"]).first?.contains("lacks the key \"version\"") == true)
        #expect(faults(["version: 1\n", "version: 2\n"]).first?.contains("is already in etc/a.yaml:1:10") == true)
    }

    @Test func anEmptyFileAddsNothing() throws {
        #expect(try load(["# nothing\n", "version: 1\nworkers: 2\n", ""]).get().workers == 2)
        #expect(faults(["# nothing\n", ""]) == ["etc/a.yaml:1:1: error: the file is empty; start it with version: 1"])
    }

    @Test func pathsStartFromTheFolderOfTheirFile() throws {
        let sources = [
            ConfigurationSource(text: "version: 1\nworkers: ${file:n}\n", file: "one/a.yaml"),
            ConfigurationSource(text: "timeouts: { idle: \"${file:t}\" }\n", file: "two/b.yaml"),
        ]
        let snapshot = try ConfigurationLoader.load(sources, environment: [:]) { path throws(FileFault) in
            switch path {
            case "one/n": return FileContent(bytes: Array("2\n".utf8))
            case "two/t": return FileContent(bytes: Array("7s\n".utf8))
            default: throw .missing
            }
        }.get()
        #expect(snapshot.workers == 2 && snapshot.settings.timeouts.idle == 7_000)
    }

    @Test func aFolderStandsForItsFiles() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "usher-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        func load() -> Result<Snapshot, ConfigurationFaults> {
            ConfigurationLoader.load(paths: [folder.path], environment: [:])
        }
        if case .failure(let faults) = load() {
            #expect(
                faults.diagnostics.map(\.message) == ["the folder has no .yaml or .yml file"])
        } else {
            Issue.record("an empty folder is a configuration")
        }
        try write("20-more.yml", "interceptors:\n" + rule("two"))
        try write("10-first.yaml", "version: 1\ninterceptors:\n" + rule("one"))
        try write("30-last.yaml", "interceptors:\n" + rule("three"))
        for name in [".hidden.yaml", "note.txt", "old.yaml~"] { try write(name, "nonsense: [") }
        #expect(try load().get().settings.rules.map(\.name) == ["one", "two", "three"])
    }
}
