public import Declaration
public import Formats
public import HTTPCodec

/// `set_json`.
public struct SetJSON: RequestEdit, ResponseEdit, BodyEdit {
    public static let name = "set_json"
    public static let doc = "Replaces or adds the values at JSON pointers. The rest stays as written."
    public static let shape = Shape.map(.jsonPointer, .json)

    private struct Place {
        var pointer: JSONPointer
        /// Serialized JSON.
        var value: [UInt8]
        var template: Template?
    }

    /// The changes, in the order in which they are applied.
    private let places: [Place]

    private init(_ places: [Place]) { self.places = places }

    public init(_ places: [(pointer: JSONPointer, value: JSONValue)]) {
        self.places = places.map { Place(pointer: $0.pointer, value: Array($0.value.serialized.utf8)) }
    }

    public init(_ value: Decoded, _ reader: RuleReader) {
        if value.fields?.written.isEmpty == true {
            reader.findings.error(
                value.position, "an edit without a pointer has no effect; write { /NAME: value } or remove the edit")
        }
        self.init(
            (value.fields?.all ?? []).compactMap { field in
                guard let pointer = JSONPointer(field.name) else { return nil }
                if let value = field.value.json {
                    return Place(pointer: pointer, value: Array(value.serialized.utf8))
                }
                return reader.template(field.value, .json).map { Place(pointer: pointer, value: [], template: $0) }
            })
    }

    public var templates: [Template] { places.compactMap(\.template) }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        var filled: [Place] = []
        for place in places {
            guard let template = place.template else {
                filled.append(place)
                continue
            }
            guard let text = try filler.text(template, "JSON \(place.pointer)") else { continue }
            filled.append(Place(pointer: place.pointer, value: Array(text.utf8)))
        }
        return filled.isEmpty ? nil : Self(filled)
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
