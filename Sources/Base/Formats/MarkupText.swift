/// Text in HTML and XML.
public enum MarkupText {
    /// Replaces markup characters by character references, for content and quoted attributes.
    /// - Parameter more: further characters to replace.
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
