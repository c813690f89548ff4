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
        guard let plain = BodyText.plain(body, isCut: isCut, fields, limit) else { return ([], true) }
        let type = fields.text("content-type").flatMap { MediaType($0) }
        if type?.isMedia == true, !BodyText.isText(plain) { return (plain, isCut) }
        guard var bytes = BodyText.readable(plain) else { return ([], true) }
        if isCut { bytes.removeLast(bytes.count - BodyText.lastEnd(bytes)) }
        guard mayHold(bytes[...]) else { return (bytes, isCut) }
        // whatever it is called: programs send JSON as forms
        if Self.looksLikeJSON(bytes) || type?.isJSON == true {
            // without what is beside it and around it nobody can tell what a member is
            guard let made = json(bytes, 0) else { return ([], true) }
            return (made.bytes, isCut || made.end < bytes.count)
        }
        return (scanned(type?.isForm == true ? pairs(bytes[...], 0) : bytes, 0), isCut)
    }
}
