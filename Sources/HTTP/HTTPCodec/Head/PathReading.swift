import Formats

/// One of the ways in which servers read a path. They differ in the number of decodings, in segment separators, and in the
/// treatment of parameters and empty segments. A grant by path must hold in every reading; otherwise `/api/..%2Fadmin`
/// would pass for a path below `/api`.
public struct PathReading: Equatable, Sendable {
    /// How often percent-encoding is decoded.
    private let decodings: Int
    /// `%2F` and `%5C` become what they stand for.
    private let decodesSeparators: Bool
    private let partsAtBackslash: Bool
    /// Segments end at a semicolon: `..;x` is `..`.
    private let cutsParameters: Bool
    private let dropsEmptySegments: Bool
    private let removesDots: Bool

    private init(
        decodings: Int = 0, decodesSeparators: Bool = true, partsAtBackslash: Bool = false,
        cutsParameters: Bool = false,
        dropsEmptySegments: Bool = false, removesDots: Bool = true
    ) {
        self.decodings = decodings
        self.decodesSeparators = decodesSeparators
        self.partsAtBackslash = partsAtBackslash
        self.cutsParameters = cutsParameters
        self.dropsEmptySegments = dropsEmptySegments
        self.removesDots = removesDots
    }

    /// The path as it came.
    public static let asWritten = PathReading(removesDots: false)

    /// The path as it came, without dots and empty segments.
    static let merged = PathReading(dropsEmptySegments: true)

    private static let deepest = PathReading(
        decodings: 2, partsAtBackslash: true, cutsParameters: true, dropsEmptySegments: true)

    private static let every: [PathReading] = (0...2).flatMap { decodings in
        (0..<16).compactMap { bits in
            if decodings == 0, bits & 1 == 0 { return nil }
            return PathReading(
                decodings: decodings, decodesSeparators: bits & 1 != 0, partsAtBackslash: bits & 2 != 0,
                cutsParameters: bits & 4 != 0, dropsEmptySegments: bits & 8 != 0)
        }
    }

    /// A longer path that is not read alike by all fits in none: no client writes such, and all readings of it cost.
    private static let longest = 2048

    /// Whether a condition holds for a path in every reading. An ordinary path has one reading.
    public static func all(of path: [UInt8], hold: (PathReading) -> Bool) -> Bool {
        guard hold(.asWritten) else { return false }
        guard !isPlain(path.span, path.indices) else { return true }
        guard let plain = settled(path) else { return false }
        // without `..` readings only omit parts, and the one that omits most decides
        if !hasPair(plain, 0x2E, 0x2E), !plain.contains(where: isEnd) { return hold(.deepest) }
        return path.count <= longest && !hidesDots(path) && every.allSatisfy(hold)
    }

    /// Whether some `..` of the path appear only in some readings. A chain of servers may remove them one after another and
    /// reach a path that no single reading has. No honest client hides dots.
    private static func hidesDots(_ path: [UInt8]) -> Bool {
        asWritten.segments(of: path).count(where: isParent) != deepest.segments(of: path).count(where: isParent)
    }

    /// The path, or the path of a pattern, in this reading. What begins with no slash stays as it is.
    public func applied(to path: [UInt8]) -> [UInt8] { resolved(decoded(path)) }

    /// The path in this reading, and its beginnings before a decoded question mark or number sign, where servers that
    /// decode first end it.
    public func endings(of path: [UInt8]) -> [[UInt8]] {
        let plain = decoded(path)
        let ends = [0x3F, 0x23].compactMap { plain.firstIndex(of: $0) }
        return [resolved(plain)] + ends.map { resolved(Array(plain[..<$0])) }
    }

    private static func isEnd(_ byte: UInt8) -> Bool { byte == 0x3F || byte == 0x23 }

    private func resolved(_ plain: [UInt8]) -> [UInt8] {
        guard removesDots, plain.first == 0x2F else { return plain }
        var kept: [ArraySlice<UInt8>] = []
        var isOpen = false
        let segments = parted(plain)
        for (index, segment) in segments.enumerated().dropFirst() {
            isOpen = true
            if Self.isParent(segment) {
                _ = kept.popLast()
            } else if segment.isEmpty && (dropsEmptySegments || index == segments.count - 1)
                || segment.elementsEqual([0x2E])
            {
                continue
            } else {
                kept.append(segment)
                isOpen = false
            }
        }
        let path = [0x2F] + Array(kept.joined(separator: [0x2F]))
        return isOpen && !kept.isEmpty ? path + [0x2F] : path
    }

    private func segments(of path: [UInt8]) -> [ArraySlice<UInt8>] { parted(decoded(path)) }

    private func parted(_ plain: [UInt8]) -> [ArraySlice<UInt8>] {
        let parts = plain.split(omittingEmptySubsequences: false) {
            $0 == 0x2F || partsAtBackslash && $0 == 0x5C
        }
        return cutsParameters ? parts.map { $0.prefix { $0 != 0x3B } } : parts
    }

    private static func isParent(_ segment: ArraySlice<UInt8>) -> Bool { segment.elementsEqual([0x2E, 0x2E]) }

    /// The text as often decoded as in this reading, and in capitals what stays encoded.
    public func decoded(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(0x25) else { return text }
        var text = text
        for _ in 0..<decodings {
            text = decodesSeparators ? PercentCoding.decodeBytes(text, plusAsSpace: false) : Self.decodedInside(text)
        }
        Self.capitalize(&text)
        return text
    }

    // MARK: bytes

    /// Whether the range has a single reading.
    public static func isPlain(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var last: UInt8 = 0
        for index in range {
            let byte = bytes[index]
            switch byte {
            case 0x25, 0x5C, 0x3B, 0xC0, 0xC1, 0xE0, 0xF0, 0xF8, 0xFC: return false
            case 0x2F where last == 0x2F, 0x2E where last == 0x2F: return false
            default: last = byte
            }
        }
        return true
    }

    /// The path without any encoding. Nil for one that is encoded deeper than the readings reach, in ways that servers
    /// take or refuse as they like, or that hides a control character, at which some servers end it.
    private static func settled(_ path: [UInt8]) -> [UInt8]? {
        let plain = deepest.decoded(path)
        guard PercentCoding.decodeBytes(plain, plusAsSpace: false) == plain, !OddEncoding.isIn(plain) else {
            return nil
        }
        return plain.contains { $0 < 0x20 || $0 == 0x7F } ? nil : plain
    }

    private static func hasPair(_ bytes: [UInt8], _ first: UInt8, _ second: UInt8) -> Bool {
        zip(bytes, bytes.dropFirst()).contains { $0 == first && $1 == second }
    }

    /// Decodes all but the separators.
    private static func decodedInside(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            guard let byte = escape(text, index) else {
                out.append(text[index])
                index += 1
                continue
            }
            if byte == 0x2F || byte == 0x5C { out += text[index..<index + 3] } else { out.append(byte) }
            index += 3
        }
        return out
    }

    /// `%2f` and `%2F` are one (RFC 3986 §6.2.2.1).
    private static func capitalize(_ text: inout [UInt8]) {
        for index in text.indices where escape(text, index) != nil {
            for digit in [index + 1, index + 2] where ASCII.isAlpha(text[digit]) { text[digit] &= 0xDF }
        }
    }

    /// The byte that the escape at that index stands for; nil if there is none.
    static func escape(_ text: [UInt8], _ index: Int) -> UInt8? {
        guard text[index] == 0x25, index + 2 < text.count, let high = ASCII.hexValue(text[index + 1]),
            let low = ASCII.hexValue(text[index + 2])
        else { return nil }
        return high << 4 | low
    }
}
