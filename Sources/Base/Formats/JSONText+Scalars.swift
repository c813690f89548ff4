extension JSONText {
    /// Returns the text that replaces a value; nil keeps the value. `path` lists member names and item numbers from the
    /// outermost on; `value` is the value, for a string without its escapes; `isText` is true for a string.
    public typealias Replacement = (_ path: [[UInt8]], _ value: [UInt8], _ isText: Bool) -> [UInt8]?

    /// The end of the readable part of a text.
    public struct Reach: Equatable, Sendable {
        /// The offset behind the last byte that was read.
        public let end: Int
        /// The path to the value that was open there; nil if all were closed.
        public let open: [[UInt8]]?
    }

    /// Replaces strings and numbers by strings; member names stay. The readable beginning of an invalid text is kept, the
    /// rest is removed. A truncated text is read as if everything were closed at its end. Documents may follow one another;
    /// each but the first is numbered like an array item.
    /// - Returns: the extent of the readable part; 0 if no value begins the text.
    public mutating func replaceScalars(_ replacement: Replacement) -> Reach {
        var scalars = JSONScalars()
        let reach = scalars.run(bytes.span, replacement)
        bytes.removeLast(bytes.count - reach.end)
        apply(scalars.splices)
        return reach
    }
}

/// Walks once through a JSON text and visits each string and number.
private struct JSONScalars {
    private(set) var splices: [JSONWalk.Splice] = []
    private var path: [[UInt8]] = []
    /// The offset behind the last value.
    private var end = 0

    mutating func run(_ text: Span<UInt8>, _ replacement: JSONText.Replacement) -> JSONText.Reach {
        var reader = JSONReader()
        if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { reader.position = 3 }
        var documents = 0
        do {
            while true {
                while reader.position < text.count, Self.isBetween(text[reader.position]) { reader.position += 1 }
                guard reader.position < text.count else { return JSONText.Reach(end: text.count, open: nil) }
                path = documents == 0 ? [] : [Array(String(documents).utf8)]
                try value(&reader, text, replacement)
                documents += 1
            }
        } catch {
            return JSONText.Reach(end: error.offset < text.count ? end : text.count, open: path)
        }
    }

    /// Whether a byte may stand between documents: separators, and the script guard `)]}',`.
    private static func isBetween(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D, 0x1E, 0x27, 0x29, 0x2C, 0x3B, 0x5D, 0x7D].contains(byte)
    }

    private mutating func value(
        _ reader: inout JSONReader, _ text: Span<UInt8>, _ replacement: JSONText.Replacement
    ) throws(JSONFault) {
        let start = reader.position
        guard start < text.count, path.count < JSONReader.maxDepth else { throw JSONFault(offset: start) }
        switch text[start] {
        case 0x7B:
            reader.position += 1
            while try part(&reader, text, end: 0x7D) {
                guard text[reader.position] == 0x22 else { throw JSONFault(offset: reader.position) }
                path.append(Self.string(&reader, text))
                try reader.skipColon(text)
                try value(&reader, text, replacement)
                path.removeLast()
            }
        case 0x5B:
            reader.position += 1
            var count = 0
            while try part(&reader, text, end: 0x5D) {
                path.append(Array(String(count).utf8))
                count += 1
                try value(&reader, text, replacement)
                path.removeLast()
            }
        case 0x22:
            if let new = replacement(path, Self.string(&reader, text), true) { put(new, start..<reader.position) }
        case 0x2D, 0x30...0x39:
            try reader.skipValue(text, depth: path.count)
            let number = (start..<reader.position).map { text[$0] }
            if let new = replacement(path, number, false) { put(new, start..<reader.position) }
        default: try reader.skipValue(text, depth: path.count)
        }
        end = reader.position
    }

    /// Advances to the next member or item.
    /// - Returns: false behind the closing bracket.
    private func part(_ reader: inout JSONReader, _ text: Span<UInt8>, end: UInt8) throws(JSONFault) -> Bool {
        while true {
            reader.skipSpace(text)
            guard reader.position < text.count else { throw JSONFault(offset: text.count) }
            let byte = text[reader.position]
            guard byte == 0x2C || byte == end else { return true }
            reader.position += 1
            if byte == end { return false }
        }
    }

    /// Skips a string, also one without an end. An unreadable one is returned as written.
    private static func string(_ reader: inout JSONReader, _ text: Span<UInt8>) -> [UInt8] {
        var strict = reader
        if let content = try? strict.skipString(text), let bytes = try? strict.unescaped(text, content) {
            reader = strict
            return bytes
        }
        let start = reader.position + 1
        var end = start
        while end < text.count, text[end] != 0x22 { end += text[end] == 0x5C ? 2 : 1 }
        end = min(end, text.count)
        reader.position = min(end + 1, text.count)
        return (start..<end).map { text[$0] }
    }

    private mutating func put(_ text: [UInt8], _ range: Range<Int>) {
        var written: [UInt8] = []
        JSONValue.writeString(String(decoding: text, as: UTF8.self), to: &written)
        splices.append(JSONWalk.Splice(range: range, text: written))
    }
}
