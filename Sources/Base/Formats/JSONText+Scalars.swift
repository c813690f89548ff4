extension JSONText {
    /// One step of a walk through a JSON text.
    public enum Step {
        /// A member begins; its name has no escapes.
        case member(ArraySlice<UInt8>)
        /// An item of an array begins, or a further document.
        case item(Int)
        /// A member, an item or a document ends.
        case end
        /// A string without its escapes.
        case text(ArraySlice<UInt8>)
        case number(ArraySlice<UInt8>)
    }

    /// The end of the readable part of a text.
    public struct Reach: Equatable, Sendable {
        /// The offset behind the last byte that was read.
        public let end: Int
        /// True if the text broke off; what began last has not ended then.
        public let isOpen: Bool
    }

    /// Replaces strings and numbers by strings; member names stay. The readable beginning of an invalid text is kept, the
    /// rest is removed. A truncated text is read as if everything were closed at its end. Documents may follow one another;
    /// each but the first is numbered like an array item.
    /// - Parameter replacement: returns the text that replaces a string or number; nil keeps it.
    /// - Returns: the extent of the readable part; 0 if no value begins the text.
    public mutating func replaceScalars(_ replacement: (Step) -> [UInt8]?) -> Reach {
        let text = bytes
        var scalars = JSONScalars(bytes: text)
        let reach = scalars.run(text.span, replacement)
        if reach.end < bytes.count { bytes.removeLast(bytes.count - reach.end) }
        apply(scalars.splices)
        return reach
    }

    /// Walks through the text as `replaceScalars` does, and changes nothing.
    public func walk(_ visit: (Step) -> Void) -> Reach {
        var scalars = JSONScalars(bytes: bytes)
        return scalars.run(bytes.span) {
            visit($0)
            return nil
        }
    }
}

/// Walks once through a JSON text and visits each string and number.
private struct JSONScalars {
    typealias Visit = (JSONText.Step) -> [UInt8]?

    let bytes: [UInt8]
    private(set) var splices: [JSONWalk.Splice] = []
    private var reader = JSONReader()
    private var depth = 0
    /// The offset behind the last value.
    private var end = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameter text: the bytes.
    mutating func run(_ text: Span<UInt8>, _ visit: Visit) -> JSONText.Reach {
        if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { reader.position = 3 }
        var documents = 0
        do {
            while true {
                while reader.position < text.count, Self.isBetween(text[reader.position]) { reader.position += 1 }
                guard reader.position < text.count else { return JSONText.Reach(end: text.count, isOpen: false) }
                if documents == 0 { try value(text, visit) } else { try part(.item(documents), text, visit) }
                documents += 1
            }
        } catch {
            return JSONText.Reach(end: error.offset < text.count ? end : text.count, isOpen: true)
        }
    }

    /// Whether a byte may stand between documents: separators, and the script guard `)]}',`.
    private static func isBetween(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D, 0x1E, 0x27, 0x29, 0x2C, 0x3B, 0x5D, 0x7D: true
        default: false
        }
    }

    private mutating func part(_ step: JSONText.Step, _ text: Span<UInt8>, _ visit: Visit) throws(JSONFault) {
        _ = visit(step)
        if case .member = step { try reader.skipColon(text) }
        depth += 1
        try value(text, visit)
        depth -= 1
        _ = visit(.end)
    }

    private mutating func value(_ text: Span<UInt8>, _ visit: Visit) throws(JSONFault) {
        let start = reader.position
        guard start < text.count, depth < JSONReader.maxDepth else { throw JSONFault(offset: start) }
        switch text[start] {
        case 0x7B:
            reader.position += 1
            while try advance(text, end: 0x7D) {
                guard text[reader.position] == 0x22 else { throw JSONFault(offset: reader.position) }
                try part(.member(string(text)), text, visit)
            }
        case 0x5B:
            reader.position += 1
            var count = 0
            while try advance(text, end: 0x5D) {
                try part(.item(count), text, visit)
                count += 1
            }
        case 0x22:
            if let new = visit(.text(string(text))) { put(new, start..<reader.position) }
        case 0x2D, 0x30...0x39:
            try reader.skipValue(text, depth: depth)
            if let new = visit(.number(bytes[start..<reader.position])) { put(new, start..<reader.position) }
        default: try reader.skipValue(text, depth: depth)
        }
        end = reader.position
    }

    /// Advances to the next member or item.
    /// - Returns: false behind the closing bracket.
    private mutating func advance(_ text: Span<UInt8>, end: UInt8) throws(JSONFault) -> Bool {
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
    private mutating func string(_ text: Span<UInt8>) -> ArraySlice<UInt8> {
        let start = reader.position
        if let content = try? reader.skipString(text) {
            guard content.isEscaped else { return bytes[content.range] }
            if let plain = try? reader.unescaped(text, content) { return plain[...] }
        }
        var end = start + 1
        while end < text.count, text[end] != 0x22 { end += text[end] == 0x5C ? 2 : 1 }
        end = min(end, text.count)
        reader.position = min(end + 1, text.count)
        return bytes[(start + 1)..<end]
    }

    private mutating func put(_ text: [UInt8], _ range: Range<Int>) {
        var written: [UInt8] = []
        written.reserveCapacity(text.count + 2)
        JSONValue.writeString(String(decoding: text, as: UTF8.self), to: &written)
        splices.append(JSONWalk.Splice(range: range, text: written))
    }
}
