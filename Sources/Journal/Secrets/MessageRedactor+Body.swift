internal import ContentCoding
internal import Formats
internal import HTTPCodec

/// The bodies of messages.
extension MessageRedactor {
    /// A body out of its content codings and without the secrets that it names.
    /// - Parameters:
    ///   - body: as it came.
    ///   - isCut: more came than that.
    ///   - fields: of the same message, as they came.
    ///   - limit: bytes of the outcome.
    /// - Returns: nothing where it cannot be read, since nobody knows what is in it then; `isCut` where it is not the whole.
    mutating func body(
        _ body: ArraySlice<UInt8>, isCut: Bool, _ fields: FieldLines, limit: Int
    ) -> (bytes: [UInt8], isCut: Bool) {
        guard var bytes = Self.plain(body, isCut: isCut, fields, limit) else { return ([], true) }
        let type = fields.text("content-type").flatMap { MediaType($0) }
        if type?.isMedia == true { return (bytes, isCut) }
        if isCut { bytes.removeLast(bytes.count - Self.lastEnd(bytes)) }
        guard mayHold(bytes[...]) else { return (bytes, isCut) }
        if type?.isForm == true { return (pairs(bytes), isCut) }
        if Self.looksLikeJSON(bytes), let made = wholeJSON(bytes) { return (made, isCut) }
        return (scanned(bytes), isCut)
    }

    private static func plain(
        _ body: ArraySlice<UInt8>, isCut: Bool, _ fields: FieldLines, _ limit: Int
    ) -> [UInt8]? {
        guard let names = fields.text("content-encoding") else { return Array(body) }
        var codings: [Coding] = []
        for name in names.split(separator: ",") {
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

    private static func looksLikeJSON(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }) else {
            return false
        }
        return first == 0x7B || first == 0x5B
    }

    /// What ends in the middle may end in the middle of a secret: the last that is whole for certain ends before the last
    /// sign that no secret has.
    private static func lastEnd(_ bytes: [UInt8]) -> Int {
        bytes.lastIndex { [0x20, 0x0A, 0x0D, 0x22, 0x27, 0x2C, 0x26, 0x3C, 0x3E, 0x3B].contains($0) }.map { $0 + 1 }
            ?? 0
    }
}
