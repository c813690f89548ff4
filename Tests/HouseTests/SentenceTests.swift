import Foundation
import Testing

/// The prose of the pages: headings, tables and blocks of code left out.
struct SentenceTests {
    private static let most = 30

    /// The paragraphs and list items of a page, each with the line that it begins at.
    static func paragraphs(_ file: SourceFile) -> [(line: Int, text: String)] {
        var found: [(line: Int, text: String)] = []
        var isOpen = false
        var isCode = false
        for (index, line) in file.lines.enumerated() {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("```") { isCode.toggle() }
            if isCode || text.isEmpty || text.contains(/^(?:```|\||#|<)/) {
                isOpen = false
                continue
            }
            if isOpen, !text.contains(/^(?:[-*]|\d+\.)\s/) {
                found[found.count - 1].text += " " + text
            } else {
                found.append((index + 1, text))
                isOpen = true
            }
        }
        return found
    }

    /// How many words each sentence has. What stands between backticks is one word, and the target of a link is none.
    static func sentences(_ text: String) -> [(text: Substring, words: Int)] {
        let plain = text.replacing(/\]\([^)]*\)/, with: "]").replacing(/`[^`]*`/, with: "X")
        return plain.replacing(/([.!?:;])\s+/) { "\($0.output.1)\n" }.split(separator: "\n").map {
            ($0, $0.split(separator: " ").count)
        }
    }

    @Test("No sentence of a page has more than 30 words")
    func length() {
        let pages =
            SourceTree.top(["md"]) + SourceTree.files("docs", ["md"]) + SourceTree.files("bench", ["md"])
            + SourceTree.files("clients", ["md"])
        #expect(pages.count > 10)
        for page in pages {
            for (line, text) in Self.paragraphs(page) {
                for sentence in Self.sentences(text) where sentence.words > Self.most {
                    Issue.record("\(page.path):\(line): \(sentence.words) words: \(sentence.text)")
                }
            }
        }
    }

    @Test("Words are counted by sentence, without code and without where a link leads")
    func counting() {
        let page = SourceFile(
            path: "a.md",
            lines: ["# No", "", "One two. Three `a b c`", "[four](five six)", "```", "no", "```", "- Seven"])
        #expect(Self.paragraphs(page).map(\.line) == [3, 8])
        #expect(Self.sentences(Self.paragraphs(page)[0].text).map(\.words) == [2, 3])
    }
}
