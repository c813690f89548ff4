public import Declaration
public import HTTPCodec

/// `add_form`.
public struct AddForm: RequestEdit, BodyEdit {
    public static let name = "add_form"
    public static let doc = "Adds fields to a form beside those of the name."
    public static let shape = Shape.parameters

    public let pairs: [Pair]

    public init(_ pairs: [Pair]) { self.pairs = pairs }
    public init(_ value: Decoded, _ reader: RuleReader) { self.init(reader.pairs(value) { _ in .form }) }

    public var templates: [Template] { pairs.compactMap(\.template) }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        try filler.pairs(pairs, "form field").map { Self($0) }
    }

    public var makesBody: Bool { true }
    public func concerns(_ type: MediaType?) -> Bool { FormEdit.concerns(type) }

    public func apply(to body: inout EditedBody) throws(BodyFault) -> [String] {
        try FormEdit.edit(&body) {
            $0.add(pairs, "form field")
        } _: { form throws(MultipartFault) in
            try form.add(pairs, "form field")
        }
    }
}

extension Edit where Self == AddForm {
    public static func addForm(_ pairs: [Pair]) -> Self { AddForm(pairs) }
}
