/// Text as HTML and XML have it.
public enum MarkupText {
    /// With the characters that markup is made of as references: fit for content and for quoted attributes.
    /// - Parameter more: characters that become references as well.
    public static func escaped(_ text: some StringProtocol, and more: String = "") -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "'": out += "&#39;"
            case _ where more.unicodeScalars.contains(scalar): out += "&#\(scalar.value);"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
