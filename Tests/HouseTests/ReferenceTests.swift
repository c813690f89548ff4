import Foundation
import Testing

/// What a comment or a page points at is there: a page, the heading in it, a file of the project.
struct ReferenceTests {
    /// One mention of a page or a file.
    struct Mention {
        var text: String
        /// The folder of the file that mentions it.
        var folder: String
        var place: String
    }

    private static let folders = ["Sources", "Tests", "docs", "config", "scripts", "bench", "systemd", "clients"]

    /// What is not code: of sources the comments, of pages everything.
    private static func prose(_ file: SourceFile) -> [(index: Int, text: String)] {
        file.lines.enumerated().compactMap { index, line in
            guard line.contains("/") || line.contains(".md") else { return nil }
            guard file.path.hasSuffix(".swift") else { return (index, line) }
            return line.firstRange(of: "//").map { (index, String(line[$0.upperBound...])) }
        }
    }

    private static func mentions(_ pattern: String, _ accepts: (String) -> Bool = { _ in true }) throws -> [Mention] {
        let expression = try NSRegularExpression(pattern: pattern)
        let files =
            SourceTree.files("Sources") + SourceTree.files("Tests", ["swift", "py", "md"])
            + SourceTree.files("bench", ["md", "py", ""]) + SourceTree.files("docs", ["md"])
            + SourceTree.files("scripts", ["", "sh"]) + SourceTree.files("config", ["yaml"]) + SourceTree.top(["md"])
            + SourceTree.files("clients", ["md", "py", "js"])
        return files.flatMap { file in
            prose(file).flatMap { index, text in
                expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
                    guard let range = Range(match.range, in: text), accepts(String(text[range])) else { return nil }
                    let folder = file.path.split(separator: "/").dropLast().joined(separator: "/")
                    return Mention(text: String(text[range]), folder: folder, place: file.at(index))
                }
            }
        }
    }

    /// From the project's root, or from where it is mentioned.
    private static func url(_ path: String, _ mention: Mention) -> URL? {
        [SourceTree.root, SourceTree.root.appending(path: mention.folder)].map { $0.appending(path: path) }
            .first { FileManager.default.fileExists(atPath: $0.standardizedFileURL.path) }
    }

    @Test("Every page that is pointed at is there, and so is its heading")
    func pages() throws {
        // the address of somebody else's page is no reference of ours
        let mentions = try Self.mentions(#"(?<![\w./:-])[\w./-]+\.md(#[\w-]+)?"#)
        #expect(mentions.count > 30)
        for mention in mentions {
            let parts = mention.text.split(separator: "#", maxSplits: 1).map(String.init)
            guard let url = Self.url(parts[0], mention) else {
                Issue.record("there is no \(parts[0]): \(mention.place)")
                continue
            }
            guard parts.count == 2 else { continue }
            let text = try String(contentsOf: url, encoding: .utf8)
            #expect(Self.anchors(text).contains(parts[1]), "\(parts[0]) has no such heading: \(mention.place)")
        }
    }

    @Test("A link within a page leads to one of its headings")
    func headings() throws {
        for file in SourceTree.files("docs", ["md"]) + SourceTree.top(["md"]) {
            let anchors = Self.anchors(file.lines.joined(separator: "\n"))
            for (index, line) in file.lines.enumerated() {
                for part in line.components(separatedBy: "](#").dropFirst() {
                    let anchor = String(part.prefix { $0 != ")" })
                    #expect(anchors.contains(anchor), "\(file.at(index))")
                }
            }
        }
    }

    @Test("Every file of the project that is pointed at is there")
    func files() throws {
        let known = Self.folders.joined(separator: "|")
        let mentions = try Self.mentions(#"(?<![\w./:$-])(\#(known))/[\w+./-]*\w"#) { !$0.hasSuffix(".md") }
        #expect(mentions.count > 20)
        for mention in mentions { #expect(Self.url(mention.text, mention) != nil, "\(mention.place)") }
    }

    @Test("A section sign belongs to a standard that the file names")
    func sections() {
        for file in SourceTree.files("Sources") + SourceTree.files("Tests", ["swift", "py"])
        where file.path != "Tests/HouseTests/ReferenceTests.swift" && file.lines.contains(where: { $0.contains("§") }) {
            let names = file.lines.contains { $0.contains("RFC ") || $0.contains("X.690") || $0.contains("[MS-") }
            #expect(names, "\(file.path)")
        }
    }

    /// The headings of a page, as links name them.
    private static func anchors(_ text: String) -> Set<String> {
        Set(
            text.components(separatedBy: "\n").filter { $0.hasPrefix("#") }.map { line in
                let title = line.drop { $0 == "#" || $0 == " " }.lowercased()
                return String(
                    title.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map { $0 == " " ? "-" : $0 })
            })
    }
}
