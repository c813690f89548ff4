extension Unicode.Scalar {
    /// It is not seen itself, and may change how what stands beside it is seen: controls, marks of direction, tags.
    public var steers: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: true
        default: false
        }
    }
}

extension JSONValue {
    /// A JSON text that says the same to every reader, and to a terminal nothing.
    public static func plain(_ json: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            guard scalar.steers else {
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

    /// Writes text between quotes so that it says nothing to a terminal, either.
    public static func writePlain(_ text: String, to out: inout [UInt8]) {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return writeString(text, to: &out) }
        var written: [UInt8] = []
        writeString(text, to: &written)
        out += plain(String(decoding: written, as: UTF8.self)).utf8
    }
}
