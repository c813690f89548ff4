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
            out.append(steers(scalar) && scalar != "\n" && scalar != "\t" ? " " : scalar)
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
        for scalar in scalars { out.append(steers(scalar) ? " " : scalar) }
        return String(out)
    }

    /// JSON that says the same to every reader, and to a terminal nothing.
    public static func json(_ value: JSONValue) -> String {
        var out = String.UnicodeScalarView()
        for scalar in value.serialized.unicodeScalars {
            guard steers(scalar) else {
                out.append(scalar)
                continue
            }
            // only in texts is there anything beyond ASCII
            for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                let digits = String(unit, radix: 16, uppercase: true)
                out.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
            }
        }
        return String(out)
    }

    static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: true
        default: false
        }
    }
}
