public import Formats

/// Text of others, made fit for a terminal: no control character of it steers one.
public enum TerminalText {
    private static let most = 200

    public static func shown(_ text: String) -> String {
        plain(text.unicodeScalars.prefix(most)) + (text.unicodeScalars.count > most ? "…" : "")
    }

    /// All of it.
    static func plain(_ text: String) -> String { plain(text.unicodeScalars[...]) }

    /// All of it, with its line breaks and tabs.
    static func lines(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            out.append(scalar.steers && scalar != "\n" && scalar != "\t" ? " " : scalar)
        }
        return String(out)
    }

    /// At most so many characters of it.
    static func shown(_ text: String, most: Int) -> String {
        let plain = plain(text)
        return plain.count > most ? plain.prefix(max(0, most - 1)) + "…" : plain
    }

    private static func plain(_ scalars: String.UnicodeScalarView.SubSequence) -> String {
        var out = String.UnicodeScalarView()
        for scalar in scalars { out.append(scalar.steers ? " " : scalar) }
        return String(out)
    }

    /// JSON that says the same to every reader, and to a terminal nothing.
    public static func json(_ value: JSONValue) -> String {
        JSONValue.plain(value.serialized)
    }
}
