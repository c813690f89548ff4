/// A regular expression of the configuration (pcre2pattern(3)), applied to bytes that should be UTF-8. The work of a match is
/// bounded. At a limit the expression does not match, and `watch` counts the event.
public struct Pattern: Sendable {
    public let text: String
    public let watch: PatternWatch
    private let code: PatternCode

    /// - Parameters:
    ///   - written: the text of the configuration before substitution, which may be shown.
    ///   - place: its location in the configuration, for messages.
    public init(_ text: String, written: String? = nil, place: String = "") throws(PatternFault) {
        self.init(text, try PatternCode(text), PatternWatch(written: written ?? text, place: place))
    }

    private init(_ text: String, _ code: PatternCode, _ watch: PatternWatch) {
        self.text = text
        self.code = code
        self.watch = watch
    }

    /// The same expression, ignoring case.
    func ignoringCase() -> Pattern {
        // a compiled expression also compiles this way; if memory runs out, the stricter one stays
        guard let folded = try? PatternCode(text, ignoringCase: true) else { return self }
        return Pattern(text, folded, watch)
    }

    /// True if the expression matches anywhere in the bytes.
    func isFound(in bytes: Span<UInt8>) -> Bool {
        guard let room = MatchContext.ofThisThread else { return missed(.memory) }
        let found = bytes.withUnsafeBufferPointer { buffer in
            room.begin(code, count: buffer.count)
            let found = room.find(code, in: buffer)
            guard case .notText = found else { return found }
            // invalid UTF-8 is repaired as a reader would, so that an odd byte does not bypass a rule
            return Self.repaired(buffer).withUnsafeBufferPointer { room.find(code, in: $0) }
        }
        switch found {
        case .found: return true
        case .absent, .notText: return false
        case .limited(let limit): return missed(limit)
        }
    }

    private static func repaired(_ buffer: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        Array(String(decoding: buffer, as: UTF8.self).utf8)
    }

    private func missed(_ limit: PatternLimit) -> Bool {
        watch.count(limit)
        return false
    }

    /// The limit that the expression reaches on these bytes, without counting it.
    func limit(on bytes: [UInt8]) -> PatternLimit? {
        guard let room = MatchContext.ofThisThread else { return .memory }
        return bytes.withUnsafeBufferPointer { buffer in
            room.begin(code, count: buffer.count)
            if case .limited(let limit) = room.find(code, in: buffer) { return limit }
            return nil
        }
    }

    // MARK: replacement

    /// Replaces every match; nil if there is none. In the replacement, `$0` is the match, `$1` to `$9` its groups (empty if
    /// unset), and `$$` a dollar sign.
    /// - Throws: if the result would be longer than `bound` bytes.
    func replacing(in text: String, with replacement: String, bound: Int) throws(PatternOverflow) -> String? {
        guard let room = MatchContext.ofThisThread else {
            watch.count(.memory)
            return nil
        }
        let replacement = Array(replacement.utf8)
        let bytes = Array(text.utf8)
        var out: [UInt8] = []
        var copied = 0
        var position = 0
        // all matches share one allowance
        room.begin(code, count: bytes.count)
        search: while position <= bytes.count {
            switch bytes.withUnsafeBufferPointer({ room.find(code, in: $0, from: position) }) {
            case .found(let range):
                out += bytes[copied..<range.lowerBound]
                Self.expand(replacement, room, bytes, into: &out)
                guard out.count <= bound else { throw PatternOverflow() }
                copied = range.upperBound
                position = range.isEmpty ? Self.next(after: range.upperBound, in: bytes) : range.upperBound
            case .absent, .notText: break search
            case .limited(let limit):
                watch.count(limit)
                return nil
            }
        }
        guard position > 0, copied > 0 || !out.isEmpty else { return nil }
        out += bytes[copied...]
        guard out.count <= bound else { throw PatternOverflow() }
        return String(decoding: out, as: UTF8.self)
    }

    /// The position of the next character.
    private static func next(after index: Int, in bytes: [UInt8]) -> Int {
        var next = index + 1
        while next < bytes.count, bytes[next] & 0xC0 == 0x80 { next += 1 }
        return next
    }

    private static func expand(_ replacement: [UInt8], _ room: MatchContext, _ bytes: [UInt8], into out: inout [UInt8])
    {
        var index = 0
        while index < replacement.count {
            let byte = replacement[index]
            let next = index + 1 < replacement.count ? replacement[index + 1] : 0
            switch (byte, next) {
            case (0x24, 0x24):
                out.append(0x24)
                index += 2
            case (0x24, 0x30...0x39):
                if let group = room.group(Int(next - 0x30)), group.upperBound <= bytes.count { out += bytes[group] }
                index += 2
            default:
                out.append(byte)
                index += 1
            }
        }
    }
}

/// The result of a replacement is too long.
struct PatternOverflow: Error {}
