/// Quotes words for every POSIX shell. It avoids `$'…'`, because shells that do not know it would run the text after a quote.
public enum ShellText {
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:=@%+,".utf8)

    /// Control characters are written as octal numbers for `printf`. A NUL is lost, because no argument can contain one.
    public static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy(plain.contains) { return text }
        var out = ""
        var word = Word.none
        // shells work on bytes, so a quote with a combining mark is still a quote
        for scalar in text.unicodeScalars {
            let isQuoted = !hides(scalar)
            word.become(isQuoted ? .quoted : .numbers, &out)
            if scalar == "'" {
                out += #"'\''"#
            } else if isQuoted {
                out.unicodeScalars.append(scalar)
            } else {
                for byte in String(scalar).utf8 { out += octal(byte) }
            }
        }
        word.become(.none, &out)
        return out.isEmpty ? "''" : out
    }

    /// Whether the text needs no escapes for control characters.
    public static func isShown(_ text: some StringProtocol) -> Bool { !text.unicodeScalars.contains(where: hides) }

    /// Command substitution drops line breaks at the end, so line breaks are written literally.
    private static func hides(_ scalar: Unicode.Scalar) -> Bool {
        scalar.steers && scalar != "\n" && scalar != "\t"
    }

    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }

    /// The kind of the word's part that is being written.
    private enum Word {
        case none, quoted, numbers

        private var opening: String {
            switch self {
            case .none: ""
            case .quoted: "'"
            case .numbers: #""$(printf '"#
            }
        }

        private var closing: String {
            switch self {
            case .none: ""
            case .quoted: "'"
            case .numbers: #"')""#
            }
        }

        mutating func become(_ next: Word, _ out: inout String) {
            guard next != self else { return }
            out += closing + next.opening
            self = next
        }
    }
}
