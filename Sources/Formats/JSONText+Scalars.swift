extension JSONText {
    /// What stands for a value, given the way to it, the names of members and the numbers of items from the outermost on; the
    /// value, a string without its escapes; and whether it is one. Nil leaves it as it is written.
    public typealias Replacement = (_ path: [[UInt8]], _ value: [UInt8], _ isText: Bool) -> [UInt8]?

    /// Puts strings in the place of strings and numbers; names of members stay.
    /// - Throws: for what is no JSON; the text is unchanged then.
    public mutating func replaceScalars(_ replacement: Replacement) throws(JSONFault) {
        var scalars = JSONScalars()
        try scalars.run(bytes.span, replacement)
        apply(scalars.splices)
    }
}

/// One way through a JSON text that looks at each string and number.
private struct JSONScalars {
    private(set) var splices: [JSONWalk.Splice] = []
    private var path: [[UInt8]] = []

    mutating func run(
        _ text: Span<UInt8>, _ replacement: JSONText.Replacement
    ) throws(JSONFault) {
        guard text.isUTF8 else { throw JSONFault(offset: 0) }
        var reader = JSONReader()
        if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { reader.position = 3 }
        reader.skipSpace(text)
        try value(&reader, text, replacement)
        reader.skipSpace(text)
        guard reader.position == text.count else { throw JSONFault(offset: reader.position) }
    }

    private mutating func value(
        _ reader: inout JSONReader, _ text: Span<UInt8>, _ replacement: JSONText.Replacement
    ) throws(JSONFault) {
        let start = reader.position
        guard start < text.count, path.count < JSONReader.maxDepth else { throw JSONFault(offset: start) }
        switch text[start] {
        case 0x7B:
            try reader.members(text) { reader, text throws(JSONFault) in
                let name = try reader.skipString(text)
                path.append(try reader.unescaped(text, name))
                try reader.skipColon(text)
                try value(&reader, text, replacement)
                path.removeLast()
            }
        case 0x5B:
            var count = 0
            try reader.items(text) { reader, text throws(JSONFault) in
                path.append(Array(String(count).utf8))
                count += 1
                try value(&reader, text, replacement)
                path.removeLast()
            }
        case 0x22:
            let content = try reader.skipString(text)
            // half a pair of surrogates is nobody's secret
            guard let bytes = try? reader.unescaped(text, content), let new = replacement(path, bytes, true) else {
                return
            }
            put(new, start..<reader.position)
        case 0x2D, 0x30...0x39:
            try reader.skipValue(text, depth: path.count)
            let number = (start..<reader.position).map { text[$0] }
            if let new = replacement(path, number, false) { put(new, start..<reader.position) }
        default: try reader.skipValue(text, depth: path.count)
        }
    }

    private mutating func put(_ text: [UInt8], _ range: Range<Int>) {
        var written: [UInt8] = []
        JSONValue.writeString(String(decoding: text, as: UTF8.self), to: &written)
        splices.append(JSONWalk.Splice(range: range, text: written))
    }
}
