extension JSONText {
    /// Puts others in the place of strings that are values; names of members stay.
    /// - Parameter replacement: is given the way to a string, the names of members and the numbers of items from the
    ///   outermost on, and the string without its escapes; nil leaves it as it is written.
    /// - Throws: for what is no JSON; the text is unchanged then.
    public mutating func replaceStrings(_ replacement: ([[UInt8]], [UInt8]) -> [UInt8]?) throws(JSONFault) {
        var strings = JSONStrings()
        try strings.run(bytes.span, replacement)
        apply(strings.splices)
    }
}

/// One way through a JSON text that looks at each string.
private struct JSONStrings {
    private(set) var splices: [JSONWalk.Splice] = []
    private var path: [[UInt8]] = []

    mutating func run(
        _ text: Span<UInt8>, _ replacement: ([[UInt8]], [UInt8]) -> [UInt8]?
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
        _ reader: inout JSONReader, _ text: Span<UInt8>, _ replacement: ([[UInt8]], [UInt8]) -> [UInt8]?
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
            guard let bytes = try? reader.unescaped(text, content), let new = replacement(path, bytes) else { return }
            var written: [UInt8] = []
            JSONValue.writeString(String(decoding: new, as: UTF8.self), to: &written)
            splices.append(JSONWalk.Splice(range: start..<reader.position, text: written))
        default: try reader.skipValue(text, depth: path.count)
        }
    }
}
