import Formats
import Foundation
import Testing

/// The cases of Tests/Corpora/Strictness: what is sent, and what has to become of it.
enum StrictnessCorpus {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var value: JSONValue
        var testDescription: String { name }

        /// What is sent, with the origin's address and the repetitions put in.
        var bytes: [UInt8] { StrictnessCorpus.bytes(value["send"]?.text ?? "") }
        func text(_ key: String) -> String? { value[key]?.text }
    }

    static let origin = "a.test"
    static let requests = cases("requests.json")
    static let responses = cases("responses.json")

    private static func cases(_ name: String) -> [Case] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Corpora/Strictness/\(name)")
        guard let data = try? Data(contentsOf: file), let value = try? JSONValue(parsing: [UInt8](data)) else {
            return []
        }
        return (value.items ?? []).map { Case(name: $0["name"]?.text ?? "", value: $0) }
    }

    /// Every character is one byte; `{origin}` is the origin's address, `{20000*a}` so many of that letter.
    static func bytes(_ text: String) -> [UInt8] {
        var out = text.replacingOccurrences(of: "{origin}", with: origin)
        while let found = out.firstMatch(of: /\{(\d+)\*(.)\}/) {
            out.replaceSubrange(found.range, with: String(repeating: String(found.2), count: Int(found.1) ?? 0))
        }
        return out.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }
}
