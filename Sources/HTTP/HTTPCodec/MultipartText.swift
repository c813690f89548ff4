import Formats

/// A multipart form (RFC 7578, RFC 2046 §5.1) that is edited in place. Bytes outside an edit stay as they are.
public struct MultipartText: Sendable {
    /// The most parts of a form.
    public static let mostParts = 1000
    /// The fields of one part may have so many bytes.
    public static let longestHead = 8 << 10

    public private(set) var bytes: [UInt8]
    /// `--` and the boundary.
    private let delimiter: [UInt8]
    private let search: ByteSearch
    private var parts: [Part] = []
    /// The offset of the delimiter that ends the last part.
    private var close = 0

    /// A part, as ranges of the bytes.
    private struct Part {
        /// Nil if the part has no name.
        var name: String?
        /// The offset of its delimiter.
        var start: Int
        var body: Range<Int>
        /// Its body is written otherwise than as it is, or its length stands in its fields.
        var isOdd: Bool
    }

    public init(_ bytes: [UInt8], boundary: String) throws(MultipartFault) {
        guard Self.isBoundary(boundary) else { throw .boundary }
        self.bytes = bytes
        delimiter = Array("--\(boundary)".utf8)
        search = ByteSearch(delimiter)
        try read()
    }

    /// RFC 2046 §5.1.1.
    private static func isBoundary(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count) && text.utf8.last != ASCII.space
            && text.utf8.allSatisfy {
                ASCII.isAlpha($0) || ASCII.isDigit($0) || "'()+_,-./:=? ".utf8.contains($0)
            }
    }

    // MARK: fields

    /// The bodies of the parts of that name, in order.
    public func values(named name: some StringProtocol) -> [ArraySlice<UInt8>] { values { $0 == name } }

    public func values(named isMeant: (String) -> Bool) -> [ArraySlice<UInt8>] {
        parts.filter { $0.name.map(isMeant) ?? false }.map { bytes[$0.body] }
    }

    /// Writes a value into the first part of that name and keeps its fields. Other parts of the name are removed. If there
    /// is none, a part is added at the end.
    /// - Throws: the text is unchanged then.
    public mutating func set(_ name: some StringProtocol, _ value: [UInt8]) throws(MultipartFault) {
        guard let index = parts.firstIndex(where: { $0.name.map { $0 == name } ?? false }) else {
            return try add(name, value)
        }
        guard !parts[index].isOdd else { throw .encodedPart }
        try check(value)
        let further = parts.indices.filter { $0 > index && parts[$0].name.map { $0 == name } ?? false }
        var out = Array(bytes[..<parts[index].body.lowerBound])
        out += value
        var copied = parts[index].body.upperBound
        // a part without a body has no line break of its own before the delimiter
        if !isBreak(copied) { out += "\r\n".utf8 }
        for other in further {
            out += bytes[copied..<parts[other].start]
            copied = end(of: other)
        }
        out += bytes[copied...]
        try replace(with: out)
    }

    /// Adds a part behind the last.
    /// - Throws: the text is unchanged then.
    public mutating func add(_ name: some StringProtocol, _ value: [UInt8]) throws(MultipartFault) {
        guard parts.count < Self.mostParts else { throw .tooManyParts }
        try check(value)
        var part = delimiter
        part += "\r\nContent-Disposition: form-data; name=\"\(Self.escaped(name))\"\r\n\r\n".utf8
        part += value
        part += "\r\n".utf8
        try replace(with: bytes[..<close] + part + bytes[close...])
    }

    /// - Returns: how many parts were taken out.
    public mutating func removeAll(where matches: (String) -> Bool) throws(MultipartFault) -> Int {
        let gone = parts.indices.filter { parts[$0].name.map(matches) ?? false }
        guard !gone.isEmpty else { return 0 }
        var out: [UInt8] = []
        var copied = 0
        for index in gone {
            out += bytes[copied..<parts[index].start]
            copied = end(of: index)
        }
        out += bytes[copied...]
        try replace(with: out)
        return gone.count
    }

    /// The offset of the delimiter behind a part.
    private func end(of index: Int) -> Int { index + 1 < parts.count ? parts[index + 1].start : close }

    /// A value that holds the boundary would end its own part.
    private func check(_ value: [UInt8]) throws(MultipartFault) {
        guard search.next(in: value.span) == nil else { throw .boundaryInValue }
    }

    private mutating func replace(with new: some Sequence<UInt8>) throws(MultipartFault) {
        var other = self
        other.bytes = Array(new)
        other.parts = []
        try other.read()
        self = other
    }

    /// Escapes a name as browsers do between quotes.
    private static func escaped(_ name: some StringProtocol) -> String {
        name.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "%22"
            case "\r": "%0D"
            case "\n": "%0A"
            default: String(scalar)
            }
        }.joined()
    }
}

/// Why a body is no form of parts, or cannot be made another.
public enum MultipartFault: Error, Equatable, Sendable {
    case boundary, truncated, malformed, headTooLarge, tooManyParts, encodedPart, boundaryInValue

    /// Completes "the body …".
    public var explanation: String {
        switch self {
        case .boundary: "has no boundary in its content type, or none that may be one"
        case .truncated: "ends before the boundary that closes it"
        case .malformed: "has a part whose fields are malformed"
        case .headTooLarge: "has a part with more than \(MultipartText.longestHead) bytes of fields"
        case .tooManyParts: "has more than \(MultipartText.mostParts) parts"
        case .encodedPart: "has that part in an encoding of its own, or with its length beside it"
        case .boundaryInValue: "would hold its boundary within a part"
        }
    }
}

// MARK: reading

extension MultipartText {
    private mutating func read() throws(MultipartFault) {
        // ignores the preamble (RFC 2046 §5.1.1)
        guard var line = nextDelimiter(from: 0) else { throw .truncated }
        while !line.isLast {
            guard parts.count < Self.mostParts else { throw .tooManyParts }
            let head = try fields(from: line.end)
            guard let next = nextDelimiter(from: head.end) else { throw .truncated }
            // the line break before a delimiter belongs to it; a part without a body may share that of its fields
            let body = head.end..<max(head.end, next.start - 2)
            parts.append(Part(name: head.name, start: line.start, body: body, isOdd: head.isOdd))
            line = next
        }
        close = line.start
    }

    private struct Line {
        /// The offset of its hyphens.
        var start: Int
        /// The offset behind its line break.
        var end: Int
        var isLast: Bool
    }

    /// The next line that is a delimiter. Its white space is not looked at (RFC 2046 §5.1.1).
    private func nextDelimiter(from start: Int) -> Line? {
        var from = start
        while let found = search.next(in: bytes.span, from: from) {
            from = found + 1
            guard found == start || found >= start + 2 && isBreak(found - 2) else { continue }
            var end = found + delimiter.count
            let isLast = end + 1 < bytes.count && bytes[end] == 0x2D && bytes[end + 1] == 0x2D
            // ignores the epilogue, too
            if isLast { return Line(start: found, end: end + 2, isLast: true) }
            while end < bytes.count, bytes[end] == ASCII.space || bytes[end] == ASCII.tab { end += 1 }
            guard isBreak(end) else { continue }
            return Line(start: found, end: end + 2, isLast: false)
        }
        return nil
    }

    private func isBreak(_ index: Int) -> Bool {
        index >= 0 && index + 1 < bytes.count && bytes[index] == ASCII.cr && bytes[index + 1] == ASCII.lf
    }

    /// The fields of a part, up to the empty line.
    private func fields(from start: Int) throws(MultipartFault) -> (name: String?, end: Int, isOdd: Bool) {
        var name: String?
        var isOdd = false
        var lineStart = start
        while true {
            var end = lineStart
            while end < bytes.count, !isBreak(end) {
                end += 1
                guard end - start <= Self.longestHead else { throw .headTooLarge }
            }
            guard end < bytes.count else { throw .truncated }
            if end == lineStart { return (name, end + 2, isOdd) }
            let line = Substring(String(decoding: bytes[lineStart..<end], as: UTF8.self)).utf8
            guard let colon = line.firstIndex(of: ASCII.colon) else { throw .malformed }
            let value = line[line.index(after: colon)...]
            switch ASCII.lowercased(String(Substring(line[..<colon]))) {
            case "content-disposition":
                let semicolon = value.firstIndex(of: 0x3B) ?? value.endIndex
                guard let parameters = FieldParameters(value[semicolon...]) else { throw .malformed }
                name = parameters["name"].map(Self.unescaped)
            case "content-transfer-encoding":
                let encoding = ASCII.lowercased(String(Substring(value)).filter { $0 != " " })
                isOdd = isOdd || !["7bit", "8bit", "binary"].contains(encoding)
            case "content-length": isOdd = true
            default: break
            }
            lineStart = end + 2
        }
    }

    /// The three characters that browsers escape, and no other: a name may hold a percent sign.
    private static func unescaped(_ name: String) -> String {
        var out = ""
        var rest = name[...]
        while let percent = rest.firstIndex(of: "%") {
            out += rest[..<percent]
            let code = rest[percent...].prefix(3)
            switch code.uppercased() {
            case "%22": out += "\""
            case "%0D": out += "\r"
            case "%0A": out += "\n"
            default:
                out += "%"
                rest = rest[percent...].dropFirst()
                continue
            }
            rest = rest[percent...].dropFirst(3)
        }
        return out + rest
    }
}
