public import Declaration
public import HTTPCodec

/// `set_form` and `add_form`.
public struct PairedForm<Way: PairWay>: RequestEdit, BodyEdit {
    public static var name: String { "\(Way.verb)_form" }
    public static var doc: String {
        Way.adds
            ? "Adds fields to a form. Those of the same name stay."
            : "Replaces or adds fields of a form, URL-encoded or multipart."
    }
    public static var shape: Shape { .parameters }

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
            $0.write(pairs, "form field", Way.self)
        } _: { form throws(MultipartFault) in
            try form.write(pairs, "form field", Way.self)
        }
    }
}

public typealias SetForm = PairedForm<Setting>
public typealias AddForm = PairedForm<Adding>
