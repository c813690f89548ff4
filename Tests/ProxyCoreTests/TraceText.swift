/// Bytes of a trace as lines for people: a frame each where they are frames, else as the text's lines are, with escapes.
enum TraceText {
    /// What is longer is cut.
    private static let width = 120

    static func lines(_ bytes: [UInt8]) -> String {
        let isPreface = bytes.starts(with: WireFrame.preface)
        let (frames, rest) = WireFrame.all(in: isPreface ? Array(bytes.dropFirst(WireFrame.preface.count)) : bytes)
        guard !frames.isEmpty, rest.isEmpty else { return escaped(bytes, "  | ") }
        return (isPreface ? "  PRI\n" : "") + frames.map { "  \($0.words)\n" + escaped($0.payload, "    | ") }.joined()
    }

    private static func escaped(_ bytes: [UInt8], _ margin: String) -> String {
        var out = ""
        var width = 0
        for byte in bytes {
            if width == 0 { out += margin }
            let word = Self.word(byte)
            out += word
            width += word.count
            if byte == 0x0A || width >= Self.width {
                out += "\n"
                width = 0
            }
        }
        return width > 0 ? out + "\n" : out
    }

    private static func word(_ byte: UInt8) -> String {
        switch byte {
        case 0x0A: return "\\n"
        case 0x0D: return "\\r"
        case 0x5C: return "\\\\"
        case 0x20..<0x7F: return String(UnicodeScalar(byte))
        default: return "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
