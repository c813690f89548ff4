import Formats

/// Words of a command line, as every POSIX shell takes them for what they are: `$'…'` is not known to all of them, and one
/// that does not know it would run what stands behind a quote in it.
enum ShellText {
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:=@%+,".utf8)

    /// What steers a terminal is written as numbers, which `printf` makes bytes of. A NUL is lost: no word can have one.
    static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy(plain.contains) { return text }
        var out = ""
        var word = Word.none
        // a shell takes bytes: a quote is one whatever mark stands upon it
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

    /// Whether it stands in a word as it is.
    static func isShown(_ text: some StringProtocol) -> Bool { !text.unicodeScalars.contains(where: hides) }

    /// The end of what a command printed loses its line breaks: they stand as they are.
    private static func hides(_ scalar: Unicode.Scalar) -> Bool {
        scalar.steers && scalar != "\n" && scalar != "\t"
    }

    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }

    /// What the part of a word is that is being written.
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
