internal import ContentCoding
public import Formats
public import HTTPCodec

/// What conditions and templates ask of a body. What was asked once is not read again while the body stays as it is.
extension EditedBody {
    /// The values where a JSON pointer leads, more than one where a name on the way is repeated. Where the body cannot be
    /// had, or is something else, there is none. `JSONValue.means` compares them with what is wanted.
    public mutating func json(at pointer: JSONPointer) -> [JSONValue] { (try? values(at: pointer)) ?? [] }

    /// What a whole body says as JSON, out of its codings and whatever its type; nil where it is none.
    /// - Parameters:
    ///   - fields: of its head.
    ///   - limit: of what it may unfold to, in bytes.
    public static func json(in body: [UInt8], _ fields: FieldTable, limit: Int) -> JSONValue? {
        var body = EditedBody(.whole(body), fields, CodingLimits(size: limit))
        guard let bytes = try? body.bytes() else { return nil }
        return try? JSONValue(parsing: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes)
    }

    /// A whole body out of its codings; nil where it cannot be had.
    /// - Parameter limit: of what it may unfold to, in bytes.
    public static func plain(_ body: [UInt8], of head: RequestHead, limit: Int) -> [UInt8]? {
        var body = EditedBody(.whole(body), of: head, CodingLimits(size: limit))
        return try? body.bytes()
    }

    /// The values of a form's field, decoded, in order.
    public mutating func formValues(named name: String) -> [String] { (try? fields(named: name)) ?? [] }

    /// The values where a JSON pointer leads; none in a body of another type, or without a byte.
    /// - Throws: where the body cannot be had, or is no JSON though its type does not say that it is something else.
    mutating func values(at pointer: JSONPointer) throws(BodyFault) -> [JSONValue] {
        guard JSONEdit.concerns(type), !isEmpty else { return [] }
        if let known = answers.json[pointer] { return known }
        if answers.isNoJSON { return try noJSON() }
        let text = JSONText(try bytes())
        guard let values = try? text.values(at: pointer) else {
            answers.isNoJSON = true
            return try noJSON()
        }
        answers.json[pointer] = values
        return values
    }

    private func noJSON() throws(BodyFault) -> [JSONValue] {
        guard type?.isForm != true else { return [] }
        throw .unusable("is no JSON")
    }

    /// The values of a form's field, decoded, in order; none in a body of another type, or without a byte.
    /// - Throws: where the body cannot be had, or is no such form as its type says.
    mutating func fields(named name: String) throws(BodyFault) -> [String] {
        guard let type, FormEdit.concerns(type), !isEmpty else { return [] }
        if let known = answers.fields[name] { return known }
        let values: [String]
        if type.isMultipartForm {
            values = try FormEdit.parts(bytes(), type).values(named: name).map { String(decoding: $0, as: UTF8.self) }
        } else {
            values = try FormEdit.pairs(bytes()).values(named: name)
        }
        answers.fields[name] = values
        return values
    }

    /// What was asked of the body.
    struct Answers {
        var json: [JSONPointer: [JSONValue]] = [:]
        var isNoJSON = false
        var fields: [String: [String]] = [:]
    }
}
