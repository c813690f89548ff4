public import Declaration
public import HTTPCodec

/// `remove_form`.
public struct RemoveForm: RequestEdit, BodyEdit {
    public static let name = "remove_form"
    public static let doc = "Removes fields of a form by name or glob."
    public static let shape = Shape.namesOrGlobs

    public let names: [String]

    public init(_ names: [String]) { self.names = names }
    public init(_ value: Decoded, _ reader: RuleReader) { self.init(reader.names(value)) }

    public func concerns(_ type: MediaType?) -> Bool { FormEdit.concerns(type) }

    public func apply(to body: inout EditedBody) throws(BodyFault) -> [String] {
        try FormEdit.edit(&body) {
            $0.remove(names, "form field")
        } _: { form throws(MultipartFault) in
            try form.remove(names, "form field")
        }
    }
}
