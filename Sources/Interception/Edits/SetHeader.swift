public import Declaration
import Formats
public import HTTPCodec

/// `set_header`.
public struct SetHeader: RequestEdit, ResponseEdit {
    public static let name = "set_header"
    public static let doc = "Replaces or adds headers."
    public static let shape = Shape.headers

    public let pairs: [Pair]

    public init(_ pairs: [Pair]) { self.pairs = pairs }
    public init(_ value: Decoded, _ reader: RuleReader) { self.init(reader.headers(value)) }

    public var templates: [Template] { pairs.compactMap(\.template) }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        try filler.pairs(pairs, "header").map { Self($0) }
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        for pair in pairs where ASCII.equal(pair.name, "host") { try HeaderEdit.checkHost(pair.value) }
        return try HeaderEdit.set(pairs, in: &head.fields)
    }

    public func apply(to head: inout ResponseHead) throws(EditFault) -> EditEffect {
        try HeaderEdit.set(pairs, in: &head.fields)
    }
}

extension Edit where Self == SetHeader {
    public static func setHeader(_ pairs: [Pair]) -> Self { SetHeader(pairs) }
}
