public import Declaration
public import Formats
public import HTTPCodec

/// `set_json`.
public struct SetJSON: RequestEdit, ResponseEdit, BodyEdit {
    public static let name = "set_json"
    public static let doc = "Replaces or adds what JSON pointers lead to; all else stays as it was written."
    public static let shape = Shape.map(.jsonPointer, .json)

    /// In this order; a value is a JSON text.
    private let places: [(pointer: JSONPointer, value: [UInt8])]

    public init(_ places: [(pointer: JSONPointer, value: JSONValue)]) {
        self.places = places.map { ($0.pointer, Array($0.value.serialized.utf8)) }
    }

    public init(_ value: Decoded, _ reader: RuleReader) {
        if value.fields?.written.isEmpty == true {
            reader.findings.error(
                value.position, "an edit without a pointer changes nothing; write { /NAME: value } or remove the edit")
        }
        self.init(
            (value.fields?.all ?? []).compactMap { field in
                guard let pointer = JSONPointer(field.name), let value = field.value.json else { return nil }
                return (pointer, value)
            })
    }

    public func concerns(_ type: MediaType?) -> Bool { JSONEdit.concerns(type) }

    public func apply(to body: inout EditedBody) throws(BodyFault) -> [String] {
        let limit = body.limit
        return try JSONEdit.edit(&body) { text throws(JSONEditFault) in
            for place in places { try text.set(place.pointer, to: place.value, bound: limit) }
            return places.map { "set JSON \($0.pointer)" }
        }
    }
}

extension Edit where Self == SetJSON {
    public static func setJSON(_ places: [(pointer: JSONPointer, value: JSONValue)]) -> Self { SetJSON(places) }
}
