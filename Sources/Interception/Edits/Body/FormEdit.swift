internal import HTTPCodec

/// What the edits of form fields have in common: a form is pairs joined by `&`, or parts of their own.
enum FormEdit {
    /// A form may have so many pairs.
    static let mostPairs = 10_000

    static func concerns(_ type: MediaType?) -> Bool { type.map { $0.isForm || $0.isMultipartForm } ?? false }

    /// The form of pairs in some bytes.
    static func pairs(_ bytes: [UInt8]) throws(BodyFault) -> QueryText {
        guard bytes.count(where: { $0 == 0x26 }) < mostPairs else {
            throw .unusable("is a form of more than \(mostPairs) fields")
        }
        // what is no text would not stay as it came
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .unusable("is no UTF-8 text") }
        return QueryText(text)
    }

    static func parts(_ bytes: [UInt8], _ type: MediaType) throws(BodyFault) -> MultipartText {
        do throws(MultipartFault) {
            return try MultipartText(bytes, boundary: type.boundary ?? "")
        } catch {
            throw .unusable(error.explanation)
        }
    }

    /// Makes the same change to a form of either kind.
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
