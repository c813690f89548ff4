import Configuration
import Testing

@Suite("What changed from one configuration to the next")
struct OutlineTests {
    private func outline(_ text: String, files: [String: String] = [:]) throws -> Snapshot {
        try ConfigurationLoader.load(
            text: text, file: "usher.yaml", environment: [:],
            readFile: { path throws(FileFault) in
                guard let text = files[path] else { throw .missing }
                return FileContent(bytes: Array(text.utf8))
            }
        ).get()
    }

    private func changes(_ old: String, _ new: String) throws -> [String] {
        try outline("version: 1\n" + old).outline.changes(to: outline("version: 1\n" + new).outline)
    }

    @Test func keysOfTwoLevelsAreNamedInTheOrderOfTheFile() throws {
        let changed = try changes(
            "limits: { header: 16KiB, url: 8KiB }\ntimeouts: { connect: 4s }\nworkers: 2\n",
            "workers: 3\nlimits: { header: 17KiB, url: 8KiB }\ninterceptors: [{ name: a, user_agent: b }]\n")
        #expect(changed == ["workers", "limits.header", "interceptors", "timeouts.connect"])
    }

    @Test(arguments: [
        ("limits: { url: 8KiB }\n", "# words\nlimits:\n  url: 8KiB # words\n"),
        ("workers: 2\nlimits: { url: 8KiB }\n", "limits: { url: 8KiB }\nworkers: 2\n"),
        ("interceptors:\n", ""), ("", "tls: ~\n"),
    ])
    func whatMeansTheSameIsNoChange(_ old: String, _ new: String) throws {
        #expect(try changes(old, new) == [])
    }

    @Test func orderCountsWhereItMeansSomething() throws {
        let (one, other) = ("{ name: a, user_agent: a }", "{ name: b, user_agent: b }")
        #expect(
            try changes("interceptors: [\(one), \(other)]\n", "interceptors: [\(other), \(one)]\n") == ["interceptors"])
    }

    @Test func filesThatWereReadCount() throws {
        let text = "version: 1\ninterceptors: [{ name: a, request: [{ set_header: { X-A: \"${file:/a}\" } }] }]\n"
        let old = try outline(text, files: ["/a": "one"])
        #expect(old.outline.changes(to: try outline(text, files: ["/a": "one"]).outline) == [])
        #expect(old.outline.changes(to: try outline(text, files: ["/a": "two"]).outline) == ["/a"])
    }

    @Test func whatHasToWaitForAStartIsNamed() throws {
        let old = try outline("version: 1\nworkers: 2\nlog: { level: info }\n")
        let new = try outline(
            "version: 1\nlisten: [\"127.0.0.1:1\"]\nlog: { level: debug, access: common, to: journald }\ntracing: { endpoint: \"http://a\" }\nadmin: { socket: a, group: b }\nlimits: { url: 8KiB }\n"
        )
        #expect(
            old.needingRestart(for: new) == [
                "listen", "workers", "log.access", "log.to", "tracing", "admin.socket", "admin.group",
            ])
        #expect(old.needingRestart(for: old) == [])
    }
}
