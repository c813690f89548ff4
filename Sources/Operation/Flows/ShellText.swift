/// Words of a command line, as a POSIX shell takes them for what they are.
enum ShellText {
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:=@%+,".utf8)

    static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy(plain.contains) { return text }
        guard TerminalText.lines(text) == text else { return escaped(text) }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// What would steer a terminal, or what a shell would not give back, is written as numbers (`$'…'`, of POSIX 2024).
    private static func escaped(_ text: String) -> String {
        var out = "$'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'", "\\": out += "\\\(scalar)"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case _ where TerminalText.steers(scalar):
                for byte in String(scalar).utf8 { out += byte < 16 ? "\\x0\(hex(byte))" : "\\x\(hex(byte))" }
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "'"
    }

    private static func hex(_ byte: UInt8) -> String { String(byte, radix: 16) }
}
