internal import Formats

/// Tries an expression on texts that provoke catastrophic backtracking: long runs of what the expression repeats, with an end
/// that prevents the match.
public enum PatternProbe {
    /// The default limit of a URL's length.
    private static let length = 16 << 10
    private static let mostLiterals = 16

    /// The limit that the expression reaches on one of the texts; nil if it reaches none.
    public static func limit(of pattern: Pattern) -> PatternLimit? {
        // an expression without repeats and alternatives is always fast
        guard pattern.text.utf8.contains(where: { "*+{|".utf8.contains($0) }) else { return nil }
        for subject in subjects(for: withoutVerbs(pattern.text)) {
            if let limit = pattern.limit(on: subject) { return limit }
        }
        return nil
    }

    /// The text after settings such as `(*NO_JIT)`. Lower-case names are groups, as in `(*sr:a+)`.
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
        // an expression with a fixed beginning runs only on texts with that beginning
        let beginning = beginning(of: text)
        // the expression may first look for literals after the run
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

    /// Letters, digits and other literal characters of the expression, each once.
    private static func literals(of text: String) -> [UInt8] {
        var found: [UInt8] = []
        for byte in text.utf8 where byte > 0x20 && byte < 0x7F && !"\\^$.|?*+()[]{}".utf8.contains(byte) {
            if !found.contains(byte) { found.append(byte) }
        }
        return Array(found.prefix(mostLiterals))
    }

    /// The first few runs of at least two letters and digits.
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
