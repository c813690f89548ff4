internal import HTTPCodec

/// Code shared by the edits of form fields. A form is pairs joined by `&`, or a multipart body.
enum FormEdit {
    /// The largest number of pairs in a form.
    static let mostPairs = 10_000

    static func concerns(_ type: MediaType?) -> Bool { type.map { $0.isForm || $0.isMultipartForm } ?? false }

    /// Parses a urlencoded form.
    static func pairs(_ bytes: [UInt8]) throws(BodyFault) -> QueryText {
        guard bytes.count(where: { $0 == 0x26 }) < mostPairs else {
            throw .unusable("is a form of more than \(mostPairs) fields")
        }
        // decoding and encoding again would change bytes that are not UTF-8
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .unusable("is not UTF-8 text") }
        return QueryText(text)
    }

    static func parts(_ bytes: [UInt8], _ type: MediaType) throws(BodyFault) -> MultipartText {
        do throws(MultipartFault) {
            return try MultipartText(bytes, boundary: type.boundary ?? "")
        } catch {
            throw .unusable(error.explanation)
        }
    }

    /// Applies the same change to a urlencoded or a multipart form.
    static func edit(
        _ body: inout EditedBody, _ pairs: (inout QueryText) -> [String],
        _ parts: (inout MultipartText) throws(MultipartFault) -> [String]
    ) throws(BodyFault) -> [String] {
        let bytes = try body.bytes()
        guard let type = body.type, type.isMultipartForm else {
            let before = try Self.pairs(bytes)
            var form = before
            let notes = pairs(&form)
            if form != before { try body.replace(with: Array(form.text.utf8)) }
            return notes
        }
        var form = try Self.parts(bytes, type)
        let notes: [String]
        do throws(MultipartFault) {
            notes = try parts(&form)
        } catch {
            throw .unusable(error.explanation)
        }
        try body.replace(with: form.bytes)
        return notes
    }
}
