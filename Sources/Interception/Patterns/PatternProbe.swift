internal import Formats

/// Tries an expression on texts that make careless ones think for ever: long runs of what it repeats, with an end that
/// spoils the match.
public enum PatternProbe {
    /// The longest URL that is taken where nothing else is configured.
    private static let length = 16 << 10
    private static let mostLiterals = 16

    /// The limit that the expression reaches on one of them; nil where it reaches none.
    public static func limit(of pattern: Pattern) -> PatternLimit? {
        // without a repeat and a choice there is nothing that could take long
        guard pattern.text.utf8.contains(where: { "*+{|".utf8.contains($0) }) else { return nil }
        for subject in subjects(for: withoutVerbs(pattern.text)) {
            if let limit = pattern.limit(on: subject) { return limit }
        }
        return nil
    }

    /// What stands behind settings such as `(*NO_JIT)`. In small letters it is a group, as in `(*sr:a+)`.
    private static func withoutVerbs(_ text: String) -> String {
        var rest = text[...]
        while rest.hasPrefix("(*"), !isGroup(rest), let end = rest.firstIndex(of: ")") {
            rest = rest[rest.index(after: end)...]
        }
        return String(rest)
    }

    private static func isGroup(_ text: Substring) -> Bool {
        text.utf8.dropFirst(2).first.map { (0x61...0x7A).contains($0) } ?? false
    }

    private static func subjects(for text: String) -> [[UInt8]] {
        let literals = literals(of: text)
        var units: [[UInt8]] = ["a", "0", "/", "ab", "a/", "a0", "\u{E9}"].map { Array($0.utf8) }
        units += literals.map { [$0] }
        units += words(of: text)
        // where an expression begins with what it does not repeat, nothing else gets it going
        let beginning = beginning(of: text)
        // behind the spoiling end stands what the expression may look for before it begins
        let tail = Array("\n!".utf8) + literals
        var subjects: [[UInt8]] = []
        for unit in units {
            var run = unit
            while run.count < length { run += run }
            run.removeLast(run.count - length)
            subjects.append(run + tail)
            if !beginning.isEmpty { subjects.append(beginning + run + tail) }
        }
        return subjects
    }

    /// Letters, digits and other plain characters that stand in the expression, each once.
    private static func literals(of text: String) -> [UInt8] {
        var found: [UInt8] = []
        for byte in text.utf8 where byte > 0x20 && byte < 0x7F && !"\\^$.|?*+()[]{}".utf8.contains(byte) {
            if !found.contains(byte) { found.append(byte) }
        }
        return Array(found.prefix(mostLiterals))
    }

    /// Runs of two and more letters and digits, the first few.
    private static func words(of text: String) -> [[UInt8]] {
        let runs = text.utf8.split { !ASCII.isAlpha($0) && !ASCII.isDigit($0) }
        return runs.filter { $0.count > 1 }.prefix(4).map { Array($0) }
    }

    private static func beginning(of text: String) -> [UInt8] {
        var out: [UInt8] = []
        var isEscaped = false
        for byte in text.utf8 {
            if isEscaped {
                guard !ASCII.isAlpha(byte), !ASCII.isDigit(byte) else { break }
                out.append(byte)
                isEscaped = false
            } else if byte == 0x5C {
                isEscaped = true
            } else if byte == 0x5E, out.isEmpty {
                continue
            } else {
                if "*+?{".utf8.contains(byte) { out = Array(out.dropLast()) }
                guard !"^$.|?*+()[]{}".utf8.contains(byte) else { break }
                out.append(byte)
            }
        }
        return out
    }
}
