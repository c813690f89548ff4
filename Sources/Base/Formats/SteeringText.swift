extension Unicode.Scalar {
    /// Whether the character is invisible and changes how others are displayed: controls, bidirectional marks, tags.
    public var steers: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: true
        default: false
        }
    }
}

extension JSONValue {
    /// Escapes steering characters in a JSON text, so that it is safe on a terminal and means the same.
    public static func plain(_ json: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            guard scalar.steers else {
                out.append(scalar)
                continue
            }
            // in JSON only strings have characters beyond ASCII
            for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                let digits = String(unit, radix: 16, uppercase: true)
                out.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
            }
        }
        return String(out)
    }

    /// Writes a text between quotes with steering characters escaped.
    public static func writePlain(_ text: String, to out: inout [UInt8]) {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return writeString(text, to: &out) }
        var written: [UInt8] = []
        writeString(text, to: &written)
        out += plain(String(decoding: written, as: UTF8.self)).utf8
    }
}
