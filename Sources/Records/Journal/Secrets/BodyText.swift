internal import ContentCoding
internal import Formats
internal import HTTPCodec

/// Converts bodies to searchable text.
enum BodyText {
    /// True if a body has to be converted before a search: UTF-16, or compressed without a coding.
    static func hides(_ body: ArraySlice<UInt8>) -> Bool {
        isCompressed(body) || isWide(body, bigEndian: true) || isWide(body, bigEndian: false)
    }

    /// True for gzip, Zstandard or zlib (RFC 1950 §2.2). A text may also start with zlib's `x^`.
    private static func isCompressed(_ body: ArraySlice<UInt8>) -> Bool {
        guard let first = body.first, first == 0x1F || first == 0x28 || first == 0x78 else { return false }
        return body.starts(with: [0x1F, 0x8B]) || body.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
            || [0x01, 0x5E, 0x9C, 0xDA].contains { body.starts(with: [0x78, $0]) } && !isPlain(body.prefix(32))
    }

    private static func isPlain(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F || (0x09...0x0D).contains($0) }
    }

    /// True for UTF-16, detected as in RFC 4627 §3: ASCII at the start has a NUL at every other byte.
    private static func isWide(_ body: ArraySlice<UInt8>, bigEndian: Bool) -> Bool {
        if body.starts(with: bigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]) { return true }
        let start = body.prefix(4).enumerated()
        return body.count >= 4
            && start.allSatisfy { ($0.offset % 2 == 0) == bigEndian ? $0.element == 0 : $0.element != 0 }
    }

    /// The body as UTF-8 or unchanged; nil if it is compressed without a coding.
    static func readable(_ bytes: [UInt8]) -> [UInt8]? {
        if isCompressed(bytes[...]) { return nil }
        let isBig = isWide(bytes[...], bigEndian: true)
        guard isBig || isWide(bytes[...], bigEndian: false) else { return bytes }
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        for place in stride(from: 0, to: bytes.count - 1, by: 2) {
            let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            units.append(isBig ? first << 8 | second : second << 8 | first)
        }
        if units.first == 0xFEFF { units.removeFirst() }
        let text = Array(String(decoding: units, as: UTF16.self).utf8)
        // UTF-32, or no text at all
        return text.contains(0) ? nil : text
    }

    /// True if the beginning looks like text.
    static func isText(_ bytes: [UInt8]) -> Bool {
        MessageRedactor.looksLikeJSON(bytes) || isPlain(bytes.prefix(256))
    }

    /// The decoded body; nil if it cannot be decoded.
    static func plain(
        _ body: ArraySlice<UInt8>, isCut: Bool, _ fields: FieldLines, _ limit: Int
    ) -> [UInt8]? {
        // the codings of all field lines (RFC 9110 §5.3)
        var codings: [Coding] = []
        for name in fields.texts("content-encoding").joined(separator: ",").split(separator: ",") {
            let name = name.filter { $0 != " " && $0 != "\t" }
            if name.isEmpty || ASCII.equal(name, "identity") { continue }
            guard let coding = Coding(named: name) else { return nil }
            codings.append(coding)
        }
        if codings.isEmpty { return Array(body) }
        // a truncated body cannot be decoded
        guard !isCut else { return nil }
        return try? BodyDecoder.decode(Array(body), codings, CodingLimits(size: limit))
    }

    /// The end of the last complete part in a truncated body. It cuts after the last byte that no secret contains, because the
    /// rest may be part of a secret.
    static func lastEnd(_ bytes: [UInt8]) -> Int {
        bytes.lastIndex { [0x20, 0x0A, 0x0D, 0x22, 0x27, 0x2C, 0x26, 0x3C, 0x3E, 0x3B].contains($0) }.map { $0 + 1 }
            ?? 0
    }
}
