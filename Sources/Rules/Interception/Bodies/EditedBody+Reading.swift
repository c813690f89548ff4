internal import ContentCoding
public import Formats
public import HTTPCodec

/// Reads of a body by conditions and templates. Results are cached until the body changes.
extension EditedBody {
    /// The values at a JSON pointer; more than one if a name on the path is repeated. Empty if the body is unavailable or is not
    /// JSON. `JSONValue.means` compares the values with configured ones.
    public mutating func json(at pointer: JSONPointer) -> [JSONValue] { (try? values(at: pointer)) ?? [] }

    /// Decodes and parses a whole body as JSON, whatever its type; nil if it is not JSON.
    /// - Parameters:
    ///   - fields: the fields of its head.
    ///   - limit: the largest decoded size in bytes.
    public static func json(in body: [UInt8], _ fields: FieldTable, limit: Int) -> JSONValue? {
        var body = EditedBody(.whole(body), fields, CodingLimits(size: limit))
        guard let bytes = try? body.bytes() else { return nil }
        return try? JSONValue(parsing: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes)
    }

    /// Removes the content codings of a whole body; nil if that fails.
    /// - Parameter limit: the largest decoded size in bytes.
    public static func plain(_ body: [UInt8], of head: RequestHead, limit: Int) -> [UInt8]? {
        var body = EditedBody(.whole(body), of: head, CodingLimits(size: limit))
        return try? body.bytes()
    }

    /// The decoded values of a form field, in order.
    public mutating func formValues(named name: String) -> [String] { (try? fields(named: name)) ?? [] }

    /// The values at a JSON pointer. Empty if the body is empty or its type excludes JSON.
    /// - Throws: if the body is unavailable, or is not JSON and has no type that excludes JSON.
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
        throw .unusable("is not JSON")
    }

    /// The decoded values of a form field, in order. Empty if the body is empty or has another type.
    /// - Throws: if the body is unavailable, or is not a valid form of its type.
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

    /// Cached results.
    struct Answers {
        var json: [JSONPointer: [JSONValue]] = [:]
        var isNoJSON = false
        var fields: [String: [String]] = [:]
    }
}
