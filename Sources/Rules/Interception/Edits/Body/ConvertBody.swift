public import Declaration
internal import Formats
public import HTTPCodec

/// `convert_body`.
public struct ConvertBody: RequestEdit, ResponseEdit, BodyEdit {
    public enum Form: String, CaseIterable, Sendable {
        case json, form
    }

    public static let name = "convert_body"
    public static let doc = "Converts a URL-encoded form to JSON, or JSON to such a form, with the content type."
    public static let shape = Shape.choice(Form.allCases.map(\.rawValue))

    public let form: Form

    public init(_ form: Form) { self.form = form }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let form = value.text.flatMap(Form.init) else { return nil }
        self.init(form)
    }

    public func concerns(_ type: MediaType?) -> Bool {
        switch form {
        case .json: type?.isForm == true
        case .form: JSONEdit.concerns(type) && !isDone(type)
        }
    }

    public func isDone(_ type: MediaType?) -> Bool {
        switch form {
        case .json: type?.isJSON == true
        case .form: type?.isForm == true
        }
    }

    public func apply(to body: inout EditedBody) throws(BodyFault) -> [String] {
        switch form {
        case .json:
            try body.replace(with: Array(Self.json(FormEdit.pairs(body.bytes())).serialized.utf8))
            body.contentType = "application/json"
            return ["made JSON of the form"]
        case .form:
            let bytes = try body.bytes()
            guard let value = try? JSONValue(parsing: bytes) else { throw .unusable("is not JSON") }
            try body.replace(with: Array(Self.form(value).text.utf8))
            body.contentType = "application/x-www-form-urlencoded"
            return ["made a form of the JSON"]
        }
    }

    /// Returns an object of strings. A name that occurs more than once gets an array of strings.
    static func json(_ form: QueryText) throws(BodyFault) -> JSONValue {
        var fields: [(name: String, values: [JSONValue])] = []
        var places: [String: Int] = [:]
        for pair in form.pairs where !pair.isEmpty {
            // JSON cannot represent bytes that are not UTF-8
            guard String(validating: PercentCoding.decodeBytes(pair.utf8, plusAsSpace: true), as: UTF8.self) != nil
            else {
                throw .unusable("has names or values that are not UTF-8 text")
            }
            let name = QueryText.name(pair)
            let place = places[name] ?? fields.count
            if place == fields.count {
                places[name] = place
                fields.append((name, []))
            }
            fields[place].values.append(.string(QueryText.value(pair)))
        }
        return .object(fields.map { .init($0.name, $0.values.count == 1 ? $0.values[0] : .array($0.values)) })
    }

    /// An array becomes a repeated name. A null value is left out.
    static func form(_ value: JSONValue) throws(BodyFault) -> QueryText {
        guard let members = value.members else {
            throw .unusable("is JSON, but not an object, so it cannot become a form")
        }
        var form = QueryText("")
        var names: Set<String> = []
        for member in members {
            guard names.insert(member.name).inserted else {
                throw .unusable("has a name twice in its JSON, so it cannot become a form")
            }
            for item in member.value.items ?? [member.value] where item != .null {
                guard let text = item.plainText else {
                    throw .unusable("has objects or lists within its JSON, so it cannot become a form")
                }
                guard form.pairs.count < FormEdit.mostPairs else {
                    throw .unusable("would be a form of more than \(FormEdit.mostPairs) fields")
                }
                form.add(member.name, text)
            }
        }
        return form
    }
}

extension JSONValue {
    /// A string as it is; a number or a boolean as JSON writes it.
    fileprivate var plainText: String? {
        switch self {
        case .string(let text): text
        case .number, .bool: serialized
        case .null, .array, .object: nil
        }
    }
}
