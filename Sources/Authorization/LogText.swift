/// Text of others, made fit for a line of the log.
enum LogText {
    /// At most 80 characters, control characters as blanks.
    static func shown(_ text: String) -> String {
        let isLong = text.unicodeScalars.count > 80
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(80) {
            let category = scalar.properties.generalCategory
            out.append(category == .control || category == .format ? " " : scalar)
        }
        return String(out) + (isLong ? "…" : "")
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
