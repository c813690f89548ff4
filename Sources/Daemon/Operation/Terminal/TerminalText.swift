public import Formats

/// Makes foreign text safe for a terminal: replaces control characters by spaces.
public enum TerminalText {
    private static let most = 200

    public static func shown(_ text: String) -> String {
        plain(text.unicodeScalars.prefix(most)) + (text.unicodeScalars.count > most ? "…" : "")
    }

    /// The whole text.
    static func plain(_ text: String) -> String { plain(text.unicodeScalars[...]) }

    /// The whole text, with its line breaks and tabs.
    static func lines(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            out.append(scalar.steers && scalar != "\n" && scalar != "\t" ? " " : scalar)
        }
        return String(out)
    }

    /// At most `most` characters of the text.
    static func shown(_ text: String, most: Int) -> String {
        let plain = plain(text)
        return plain.count > most ? plain.prefix(max(0, most - 1)) + "…" : plain
    }

    private static func plain(_ scalars: String.UnicodeScalarView.SubSequence) -> String {
        var out = String.UnicodeScalarView()
        for scalar in scalars { out.append(scalar.steers ? " " : scalar) }
        return String(out)
    }

    /// JSON without characters that a terminal interprets, with the same meaning.
    public static func json(_ value: JSONValue) -> String {
        JSONValue.plain(value.serialized)
    }
}
