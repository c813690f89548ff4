internal import HTTPCodec

/// Redacts the bodies of messages.
extension MessageRedactor {
    /// Decodes a body and replaces the secrets that its names reveal.
    /// - Parameters:
    /// - body: the body as received.
    /// - isCut: true if it is truncated.
    /// - fields: the fields of the same message.
    /// - limit: of the result in bytes.
    /// - Returns: an empty body if it cannot be read, because its secrets are unknown; `isCut` if it is incomplete.
    mutating func body(
        _ body: ArraySlice<UInt8>, isCut: Bool, _ fields: FieldLines, limit: Int
    ) -> (bytes: [UInt8], isCut: Bool) {
        guard let plain = BodyText.plain(body, isCut: isCut, fields, limit) else { return ([], true) }
        let type = fields.text("content-type").flatMap { MediaType($0) }
        if type?.isMedia == true, !BodyText.isText(plain) { return (plain, isCut) }
        guard var bytes = BodyText.readable(plain) else { return ([], true) }
        if isCut { bytes.removeLast(bytes.count - BodyText.lastEnd(bytes)) }
        guard mayHold(bytes[...]) else { return (bytes, isCut) }
        // whatever its type: programs send JSON as forms
        if Self.looksLikeJSON(bytes) || type?.isJSON == true {
            // a member has no meaning without its object, so invalid JSON is dropped
            guard let made = json(bytes, 0) else { return ([], true) }
            return (made.bytes, isCut || made.end < bytes.count)
        }
        return (scanned(type?.isForm == true ? pairs(bytes[...], 0) : bytes, 0), isCut)
    }
}
