public import Declaration
public import HTTPCodec

/// `set_form`.
public struct SetForm: RequestEdit, BodyEdit {
    public static let name = "set_form"
    public static let doc = "Replaces or adds fields of a form, be it pairs or parts."
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
            $0.set(pairs, "form field")
        } _: { form throws(MultipartFault) in
            try form.set(pairs, "form field")
        }
    }
}

extension Edit where Self == SetForm {
    public static func setForm(_ pairs: [Pair]) -> Self { SetForm(pairs) }
}
