public import Declaration
public import Formats
public import HTTPCodec

/// `remove_json`.
public struct RemoveJSON: RequestEdit, ResponseEdit, BodyEdit {
    public static let name = "remove_json"
    public static let doc = "Removes the values at JSON pointers. The rest stays as written."
    public static let shape = Shape.oneOrMany(.text(.jsonPointer))

    public let pointers: [JSONPointer]

    public init(_ pointers: [JSONPointer]) { self.pointers = pointers }

    public init(_ value: Decoded, _ reader: RuleReader) {
        for item in value.list where item.text?.isEmpty == true {
            reader.findings.error(
                item.position, "the empty pointer names the whole body, which cannot be removed; name a member")
        }
        self.init(reader.names(value).compactMap { JSONPointer($0) })
    }

    public func concerns(_ type: MediaType?) -> Bool { JSONEdit.concerns(type) }

    public func apply(to body: inout EditedBody) throws(BodyFault) -> [String] {
        try JSONEdit.edit(&body) { text throws(JSONEditFault) in
            var notes: [String] = []
            for pointer in pointers {
                notes.append(HeaderEdit.removed(try text.remove(pointer), "JSON \(pointer)"))
            }
            return notes
        }
    }
}
