public import Declaration
import Formats
public import HTTPCodec

/// `set_header`.
public struct SetHeader: RequestEdit, ResponseEdit {
    public static let name = "set_header"
    public static let doc = "Replaces or adds headers."
    public static let shape = Shape.headers

    public let pairs: [Pair]
    private let isSound: Bool

    public init(_ pairs: [Pair]) {
        self.pairs = pairs
        isSound = HeaderEdit.areSound(pairs)
    }

    public init(_ value: Decoded, _ reader: RuleReader) { self.init(reader.headers(value)) }

    public var templates: [Template] { pairs.compactMap(\.template) }
    public var words: [String] { pairs.map { "set header \($0.name)" } }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        try filler.pairs(pairs, "header").map { Self($0) }
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        if !isSound {
            for pair in pairs where ASCII.equal(pair.name, "host") { try HeaderEdit.checkHost(pair.value) }
        }
        return try write(&head.fields)
    }

    public func apply(to head: inout ResponseHead) throws(EditFault) -> EditEffect { try write(&head.fields) }

    private func write(_ fields: inout FieldTable) throws(EditFault) -> EditEffect {
        guard isSound else { return try HeaderEdit.set(pairs, in: &fields) }
        for pair in pairs { fields.set(pair.name, pair.value) }
        return .done
    }
}

extension Edit where Self == SetHeader {
    public static func setHeader(_ pairs: [Pair]) -> Self { SetHeader(pairs) }
}
