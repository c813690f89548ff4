import Foundation

/// The examples of docs/protocol.md: fenced blocks whose second word says what they are.
struct ProtocolPage {
    struct Block: Sendable, CustomStringConvertible {
        /// `request`, `advice`, `call` and so on.
        var role: String
        var lines: [String]
        /// Of its first line in the page.
        var line: Int

        var description: String { "docs/protocol.md:\(line): \(role)" }

        /// What stands before the empty line.
        var head: [String] { Array(lines.prefix { !$0.isEmpty }) }
        /// What stands behind it.
        var body: String { lines.drop { !$0.isEmpty }.dropFirst().joined(separator: "\n") }
    }

    let blocks: [Block]

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/protocol.md"), encoding: .utf8)
        var blocks: [Block] = []
        var open: Block?
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("```") {
                if let block = open {
                    blocks.append(block)
                    open = nil
                } else {
                    let words = line.dropFirst(3).split(separator: " ")
                    open = Block(role: words.count == 2 ? String(words[1]) : "", lines: [], line: index + 2)
                }
            } else {
                open?.lines.append(line)
            }
        }
        self.blocks = blocks
    }
}
