/// Text of others, made fit for a terminal: no control character of it steers one.
public enum TerminalText {
    private static let most = 200

    public static func shown(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(most) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: out.append(" ")
            default: out.append(scalar)
            }
        }
        return String(out) + (text.unicodeScalars.count > most ? "…" : "")
    }
}
