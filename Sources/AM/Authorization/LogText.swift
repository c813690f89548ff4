import Formats

/// Prepares external text for a line of the log.
enum LogText {
    /// The first 80 characters, with control characters as blanks.
    static func shown(_ text: String) -> String {
        if text.utf8.count <= 80, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        let isLong = text.unicodeScalars.count > 80
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(80) {
            out.append(scalar.steers ? " " : scalar)
        }
        return String(out) + (isLong ? "…" : "")
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
