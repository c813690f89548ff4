import Foundation
import Testing

/// The rules of the house that the compiler does not keep.
struct HouseTests {
    static let sources = SourceTree.files("Sources")

    private static let values: Set<String> = ["Formats", "Addresses"]
    private static let dry = values.union([
        "HTTPCodec", "HTTP1", "HTTP2", "TLSEngine", "Passwords", "ContentCoding", "Declaration", "Interception",
        "Journal", "Expectations", "Recordings", "Metrics", "Authorization", "ProxyCore",
    ])
    /// Who may import whom. Imports run down this list only; what no room brings in is Swift's own.
    private static let table: [(room: String, mayImport: Set<String>)] = [
        ("Formats", []),
        ("Addresses", ["Formats"]),
        ("HTTPCodec", values),
        ("HTTP1", values.union(["HTTPCodec"])),
        ("HTTP2", values.union(["HTTPCodec", "CNghttp2"])),
        ("TLSEngine", values.union(["COpenSSL"])),
        ("Passwords", values.union(["CCrypt", "Glibc"])),
        ("ContentCoding", values.union(["HTTPCodec", "CZlib", "CBrotli", "CZstd"])),
        ("Declaration", values.union(["HTTPCodec"])),
        ("Interceptors", ["Formats", "HTTPCodec"]),
        ("Scripts", ["Formats", "Interceptors"]),
        (
            "Interception",
            values.union(["HTTPCodec", "ContentCoding", "Declaration", "Interceptors", "Scripts", "CPCRE2"])
        ),
        ("Journal", values.union(["HTTPCodec", "ContentCoding", "Declaration", "Interception"])),
        ("Expectations", ["Formats", "HTTPCodec", "Interception", "Journal"]),
        ("Recordings", ["Formats", "HTTPCodec", "TLSEngine", "Journal"]),
        ("Metrics", ["Formats", "HTTPCodec", "Interception"]),
        ("Authorization", values.union(["HTTPCodec", "TLSEngine", "Interception"])),
        (
            "ProxyCore",
            values.union([
                "HTTPCodec", "HTTP1", "HTTP2", "TLSEngine", "Passwords", "Interception", "Journal", "Authorization",
            ])
        ),
        (
            "Control",
            values.union([
                "HTTPCodec", "HTTP1", "Declaration", "Interception", "Journal", "Recordings", "Authorization",
                "ProxyCore",
            ])
        ),
        ("EventLoop", ["CLibevent", "Glibc"]),
        ("Names", ["EventLoop", "CAres", "Glibc"]),
        ("ProxyDriver", dry.union(["EventLoop", "Names", "Glibc"])),
        ("Spill", ["Formats", "ContentCoding", "Journal", "CSQLite"]),
        ("Observation", ["Formats", "HTTPCodec", "Interception", "Journal", "Glibc"]),
        ("Configuration", dry.union(["Interceptors", "Scripts", "CIDN2", "CYAML", "Glibc"])),
        (
            "Sandbox",
            [
                "Formats", "HTTPCodec", "HTTP1", "TLSEngine", "Declaration", "Interception", "EventLoop",
                "Configuration", "Glibc",
            ]
        ),
        (
            "Operation",
            dry.union([
                "Control", "EventLoop", "Names", "ProxyDriver", "Observation", "Configuration", "Scripts", "Spill",
                "CLinux", "Glibc",
            ])
        ),
        (
            "Commands",
            [
                "Formats", "HTTPCodec", "TLSEngine", "Interceptors", "Expectations", "Recordings", "Configuration",
                "Operation", "Sandbox", "ArgumentParser", "Glibc",
            ]
        ),
        ("Usher", ["Interceptors", "Commands"]),
        ("UsherCommand", ["Usher"]),
    ]
    private static let swiftsOwn: Set<String> = ["_StringProcessing", "Synchronization"]

    @Test("There is something to check")
    func treeIsFound() {
        #expect(Self.sources.count > 100)
    }

    @Test("Every room imports only what stands below it", arguments: table.map(\.room))
    func imports(_ room: String) throws {
        let allowed = try #require(Self.table.first { $0.room == room }).mayImport.union(Self.swiftsOwn)
        for file in Self.sources where file.room == room {
            for (index, line) in file.code.enumerated() where line.has("import") {
                guard let found = line.firstMatch(of: /^\s*(?:[@a-z_]+\s+)*import\s+(?:[a-z]+\s+)?(\w+)/) else {
                    continue
                }
                #expect(allowed.contains(String(found.1)), "\(file.at(index))")
            }
        }
    }

    @Test("Every room of the sources stands in the table")
    func rooms() {
        let known = Set(Self.table.map(\.room))
        for file in Self.sources { #expect(known.contains(file.room), "\(file.path)") }
    }

    @Test("Foundation stays at the edges: tests alone may import it")
    func foundation() {
        for file in Self.sources {
            #expect(file.places(with: "Foundation") { $0.contains(/\bimport\s+Foundation/) } == [])
        }
    }

    @Test(
        "One reader and one writer of HTTP/1: what takes messages apart and puts them together is used by its legs alone"
    )
    func messages() {
        let parts = /\b(?:HeadParser|ChunkedDecoder|appendLastChunk)\b|\.write\(to: &?[\w.]+, |\bappend\(chunk:/
        for file in Self.sources where !["HTTPCodec", "HTTP1"].contains(file.room) {
            let found = file.places(with: "HeadParser", "ChunkedDecoder", "appendLastChunk", ".write(", "append(") {
                $0.contains(parts)
            }
            #expect(found == [])
        }
    }

    @Test("No file is longer than 450 lines")
    func length() {
        for file in Self.sources + SourceTree.files("Tests", ["swift", "py"])
            + SourceTree.files("clients", ["py", "js"])
        {
            #expect(file.lines.count <= 450, "\(file.path) has \(file.lines.count) lines")
        }
    }

    @Test("No folder of the sources holds more than 30 files")
    func folders() {
        let folders = Dictionary(grouping: Self.sources) {
            $0.path.prefix(upTo: $0.path.lastIndex(of: "/") ?? $0.path.startIndex)
        }
        for (folder, files) in folders { #expect(files.count <= 30, "\(folder) has \(files.count) files") }
    }

    @Test("What the compiler is told to believe has its reason beside it")
    func reasons() {
        for file in Self.sources {
            for index in file.lines.indices
            where file.code[index].has("@unchecked Sendable") || file.code[index].has("nonisolated(unsafe)") {
                let beside = file.lines[max(0, index - 1)...min(index + 1, file.lines.count - 1)]
                #expect(beside.contains { $0.contains("//") }, "\(file.at(index))")
            }
        }
    }

    @Test("Nothing that input could reach may trap")
    func traps() {
        for file in Self.sources {
            let traps = file.places(with: "try!", "as!", "fatalError(", "assertionFailure(") {
                $0.contains(/\btry!|\bas!|\bfatalError\(|\bassertionFailure\(/)
            }
            #expect(traps == [])
            // a force unwrap: something, an exclamation mark, and then no comparison
            #expect(file.places(with: "!") { $0.contains(/[A-Za-z0-9_\)\]\}"]!(?!=)/) } == [])
        }
    }

    @Test(
        "Memory is checked: exclusive access by every debug build, and references that are not counted by one wrapper")
    func unchecked() {
        for file in Self.sources where !file.path.hasSuffix("EventLoop/Unretained.swift") {
            #expect(
                file.places(with: "unchecked", "unowned(unsafe") {
                    $0.contains(/@exclusivity\(unchecked|\bunowned\(unsafe/)
                } == [])
        }
    }

    @Test("What a noncopyable type replaces is released: Swift 6.3 forgets it in `value?.part = new`")
    func replaced() {
        for file in Self.sources where ["ProxyCore", "TLSEngine", "EventLoop"].contains(file.room) {
            #expect(file.places(with: "?.", "!.") { $0.contains(/\w[?!]\.[\w.?!]+\s=\s/) } == [])
        }
    }

    @Test("What is here is finished, and speaks of itself alone")
    func words() {
        // put together here, so that this file passes its own test
        let unfinished = [
            "TO" + "DO", "FIX" + "ME", "XX" + "X:", "HA" + "CK", "not imple" + "mented", "place" + "holder",
        ]
        let elsewhere = ["/wo" + "rk/", "/fa" + "rm/", "/ho" + "me/", "clau" + "de", "chat" + "gpt"]
        let files =
            Self.sources + SourceTree.files("Tests", ["swift", "py", "js", "mjs"])
            + SourceTree.files("scripts", ["", "sh"])
            + SourceTree.files("bench", ["", "py", "lua", "md"]) + SourceTree.files("config", ["yaml"])
            + SourceTree.files("docs", ["md"]) + SourceTree.files("systemd", ["service", "socket"])
            + SourceTree.files("clients", ["py", "js", "ts", "md"])
        for file in files {
            for (index, line) in file.lines.enumerated() {
                let lower = line.lowercased()
                let found = unfinished.filter(line.has) + elsewhere.filter(lower.has)
                if !found.isEmpty { Issue.record("\(file.at(index))") }
            }
        }
    }

    @Test("Tests wait for what happens, not for time to pass")
    func sleeps() {
        for file in SourceTree.files("Tests", ["swift", "py"]) {
            #expect(file.places(with: "sleep") { $0.contains(/\bu?sleep\(|Task\.sleep/) } == [])
        }
    }
}
