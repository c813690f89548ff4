internal import ContentCoding
internal import Formats
internal import HTTPCodec

/// What of a body can be looked through as a text.
enum BodyText {
    /// A text that has to be read before it can be looked through: one in UTF-16, or compressed without saying so.
    static func hides(_ body: ArraySlice<UInt8>) -> Bool {
        isCompressed(body) || isWide(body, bigEndian: true) || isWide(body, bigEndian: false)
    }

    /// In gzip, Zstandard, or zlib's format, of which `x^` may also begin a text (RFC 1950 §2.2).
    private static func isCompressed(_ body: ArraySlice<UInt8>) -> Bool {
        guard let first = body.first, first == 0x1F || first == 0x28 || first == 0x78 else { return false }
        return body.starts(with: [0x1F, 0x8B]) || body.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
            || [0x01, 0x5E, 0x9C, 0xDA].contains { body.starts(with: [0x78, $0]) } && !isPlain(body.prefix(32))
    }

    private static func isPlain(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F || (0x09...0x0D).contains($0) }
    }

    /// RFC 4627 §3 told them apart so: what begins in ASCII has NULs at every other place.
    private static func isWide(_ body: ArraySlice<UInt8>, bigEndian: Bool) -> Bool {
        if body.starts(with: bigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]) { return true }
        let start = body.prefix(4).enumerated()
        return body.count >= 4
            && start.allSatisfy { ($0.offset % 2 == 0) == bigEndian ? $0.element == 0 : $0.element != 0 }
    }

    /// In UTF-8, or as it is; nil for what is compressed and does not say so.
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
        // 32 bits a letter, or no text at all
        return text.contains(0) ? nil : text
    }

    /// The beginning of what nobody reads as text is none.
    static func isText(_ bytes: [UInt8]) -> Bool {
        MessageRedactor.looksLikeJSON(bytes) || isPlain(bytes.prefix(256))
    }

    /// A body out of its content codings; nil where it cannot be taken out of them.
    static func plain(
        _ body: ArraySlice<UInt8>, isCut: Bool, _ fields: FieldLines, _ limit: Int
    ) -> [UInt8]? {
        // in as many fields as there may be (RFC 9110 §5.3)
        var codings: [Coding] = []
        for name in fields.texts("content-encoding").joined(separator: ",").split(separator: ",") {
            let name = name.filter { $0 != " " && $0 != "\t" }
            if name.isEmpty || ASCII.equal(name, "identity") { continue }
            guard let coding = Coding(named: name) else { return nil }
            codings.append(coding)
        }
        if codings.isEmpty { return Array(body) }
        // half of it cannot be read
        guard !isCut else { return nil }
        return try? BodyDecoder.decode(Array(body), codings, CodingLimits(size: limit))
    }

    /// What ends in the middle may end in the middle of a secret: the last that is whole for certain ends before the last
    /// sign that no secret has.
    static func lastEnd(_ bytes: [UInt8]) -> Int {
        bytes.lastIndex { [0x20, 0x0A, 0x0D, 0x22, 0x27, 0x2C, 0x26, 0x3C, 0x3E, 0x3B].contains($0) }.map { $0 + 1 }
            ?? 0
    }
}
