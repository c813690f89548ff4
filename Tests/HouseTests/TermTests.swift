import Foundation
import Testing

/// One word for one thing: the words that the glossary replaced do not come back.
struct TermTests {
    /// Each replaced word with its successor. A word stands for its plural, too.
    private static let replaced: [(old: String, new: String)] = [
        ("detour", "filter"), ("moment", "event"), ("errand", "background call"), ("heir", "detached call"),
        ("orphan", "detached call"), ("flight", "single flight"), ("turn", "single flight, or place in a queue"),
        ("gain", "credential"), ("farewell", "graceful close"), ("applicant", "lease request"),
        ("lessee", "stream owner"), ("outbox", "command buffer"), ("leg", "codec"),
    ]
    /// Words that pages need in another sense: "in turn", "in flight".
    private static let plain: Set<String> = ["turn", "flight", "gain"]

    private static func successor(of word: String) -> String? {
        replaced.first { word == $0.old || word == $0.old + "s" }?.new
    }

    /// The words of a name: `ClientLeg+Events` has three.
    static func words(_ name: some StringProtocol) -> [String] {
        String(name).replacing(/[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+/) { " \($0.output)" }
            .lowercased().split { !$0.isLetter }.map(String.init)
    }

    private static let swift = SourceTree.files("Sources") + SourceTree.files("Tests") + SourceTree.files("bench")

    @Test("No type has a name with a word that the glossary replaced")
    func types() {
        let declaration = /\b(?:class|struct|enum|protocol|actor|typealias)\s+([A-Z]\w*)/
        for file in Self.swift {
            for (index, line) in file.code.enumerated() where line.has(" ") {
                guard let name = line.firstMatch(of: declaration)?.output.1 else { continue }
                for word in Self.words(name) {
                    if let new = Self.successor(of: word) { Issue.record("\(word) is \(new) now: \(file.at(index))") }
                }
            }
        }
    }

    @Test("No file has a name with a word that the glossary replaced")
    func files() {
        let files = Self.swift + SourceTree.files("Tests", ["py", "md", "txt"]) + SourceTree.files("docs", ["md"])
        #expect(files.count > 500)
        for file in files {
            let name = file.path.split(separator: "/").last?.prefix { $0 != "." } ?? ""
            for word in Self.words(name) {
                if let new = Self.successor(of: word) { Issue.record("\(word) is \(new) now: \(file.path)") }
            }
        }
    }

    @Test("No page has a word that the glossary replaced")
    func pages() {
        for file in SourceTree.files("docs", ["md"]) + SourceTree.top(["md"]) {
            for (index, line) in file.lines.enumerated() {
                for word in line.lowercased().split(whereSeparator: { !$0.isLetter }).map(String.init) {
                    guard let new = Self.successor(of: word), !Self.plain.contains(where: word.hasPrefix) else {
                        continue
                    }
                    Issue.record("\(word) is \(new) now: \(file.at(index))")
                }
            }
        }
    }

    @Test("A name is taken apart where a capital begins a word")
    func names() {
        #expect(Self.words("ClientLeg+Events") == ["client", "leg", "events"])
        #expect(Self.words("HTTP2Server_old") == ["http", "server", "old"])
        #expect(Self.words("Preflight") == ["preflight"])
    }
}
