import Formats

/// A file of Tests/Playbooks, read.
struct Playbook {
    struct Step {
        var line: Int
        var words: [String]
        var block: [UInt8]?

        /// The words from a place on, as they stood.
        func rest(_ from: Int) -> String { words.dropFirst(from).joined(separator: " ") }
    }

    struct Fault: Error, CustomStringConvertible {
        var line: Int
        var reason: String
        var description: String { "line \(line): \(reason)" }
    }

    var steps: [Step] = []

    init(_ text: String) throws {
        var block: [String]?
        func close() throws {
            guard let lines = block, !steps.isEmpty else { return }
            let line = steps[steps.count - 1].line
            steps[steps.count - 1].block = try Self.bytes(lines, line)
            block = nil
        }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("|") {
                guard !steps.isEmpty else { throw Fault(line: index + 1, reason: "bytes before a step") }
                block = (block ?? []) + [String(line.dropFirst())]
                continue
            }
            try close()
            if line.isEmpty || line.hasPrefix("#") { continue }
            steps.append(Step(line: index + 1, words: line.split(separator: " ").map(String.init)))
        }
        try close()
    }

    /// Lines as they stood behind the bar: ` text` or `-text`.
    private static func bytes(_ lines: [String], _ number: Int) throws -> [UInt8] {
        var out: [UInt8] = []
        var bodyStart: Int?
        var lengthAt: Int?
        for line in lines {
            guard line.isEmpty || line.hasPrefix(" ") || line.hasPrefix("-") else {
                throw Fault(line: number, reason: "a block's line begins with `| ` or `|-`")
            }
            var text = String(line.dropFirst())
            if let mark = text.range(of: "{length}") {
                lengthAt = out.count + text[..<mark.lowerBound].utf8.count
                text.removeSubrange(mark)
            }
            for (name, encode) in codings {
                while let start = text.range(of: "{\(name):"), let end = text[start.upperBound...].firstIndex(of: "}") {
                    // a JSON text ends in a brace of its own: the last one before the quote counts
                    var stop = end
                    while let next = text[text.index(after: stop)...].first, next == "}" {
                        stop = text.index(after: stop)
                    }
                    let coded = encode(String(text[start.upperBound..<stop]))
                    text.replaceSubrange(start.lowerBound...stop, with: coded)
                }
            }
            out += try unescaped(text, number)
            if !line.hasPrefix("-") { out += [0x0D, 0x0A] }
            if text.isEmpty, bodyStart == nil { bodyStart = out.count }
        }
        if let lengthAt {
            out.insert(contentsOf: String(out.count - (bodyStart ?? out.count)).utf8, at: lengthAt)
        }
        return out
    }

    private static let codings: [(String, @Sendable (String) -> String)] = [
        ("base64", { Base64.encode($0.utf8) }), ("percent", { PercentCoding.encode($0) }),
    ]

    private static func unescaped(_ text: String, _ line: Int) throws -> [UInt8] {
        var out: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                out.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "0"): out.append(0)
            case UInt8(ascii: "t"): out.append(9)
            case UInt8(ascii: "r"): out.append(13)
            case UInt8(ascii: "n"): out.append(10)
            case UInt8(ascii: "\\"): out.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "x"):
                guard let high = rest.popFirst().flatMap(ASCII.hexValue),
                    let low = rest.popFirst().flatMap(ASCII.hexValue)
                else { throw Fault(line: line, reason: "\\x without two digits") }
                out.append(high << 4 | low)
            default: throw Fault(line: line, reason: "an unknown escape")
            }
        }
        return out
    }
}

extension String {
    /// The first place where `text` stands.
    fileprivate func range(of text: String) -> Range<Index>? { firstRange(of: text) }
}
