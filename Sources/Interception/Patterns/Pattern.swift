/// A regular expression of the configuration (pcre2pattern(3)), over bytes that should be UTF-8. How long it may think is
/// bounded; where it reaches a limit it does not match, and its `watch` counts that.
public struct Pattern: Sendable {
    public let text: String
    public let watch: PatternWatch
    private let code: PatternCode

    /// - Parameters:
    ///   - written: as the configuration has it, where references were filled in since: what may be shown.
    ///   - place: where it stands there, for messages.
    public init(_ text: String, written: String? = nil, place: String = "") throws(PatternFault) {
        self.init(text, try PatternCode(text), PatternWatch(written: written ?? text, place: place))
    }

    private init(_ text: String, _ code: PatternCode, _ watch: PatternWatch) {
        self.text = text
        self.code = code
        self.watch = watch
    }

    /// The same expression without regard to letter case.
    func ignoringCase() -> Pattern {
        // what compiles does so in either way; where memory ends, the stricter way is kept
        guard let folded = try? PatternCode(text, ignoringCase: true) else { return self }
        return Pattern(text, folded, watch)
    }

    /// True when the expression is found anywhere in the bytes.
    func isFound(in bytes: Span<UInt8>) -> Bool {
        guard let room = MatchContext.ofThisThread else { return missed(.memory) }
        let found = bytes.withUnsafeBufferPointer { buffer in
            room.begin(code, count: buffer.count)
            let found = room.find(code, in: buffer)
            guard case .notText = found else { return found }
            // what is no UTF-8 is judged as a reader would see it, so that one odd byte evades no rule
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

    /// Which limit the expression reaches on these bytes; nothing is counted.
    func limit(on bytes: [UInt8]) -> PatternLimit? {
        guard let room = MatchContext.ofThisThread else { return .memory }
        return bytes.withUnsafeBufferPointer { buffer in
            room.begin(code, count: buffer.count)
            if case .limited(let limit) = room.find(code, in: buffer) { return limit }
            return nil
        }
    }

    // MARK: replacing

    /// The text with every match replaced; nil when there is none. In the replacement `$0` is the match, `$1` to `$9`
    /// are its groups (empty where one took no part), `$$` is a dollar sign.
    /// - Throws: when the result would be longer than `bound`.
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
        // one allowance for all matches together
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

    /// Where the character behind this one begins.
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

/// What a replacement makes is longer than it may be.
struct PatternOverflow: Error {}
