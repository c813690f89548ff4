public import Declaration
public import HTTPCodec

/// `set_query`.
public struct SetQuery: RequestEdit {
    public static let name = "set_query"
    public static let doc = "Replaces or adds query parameters."
    public static let shape = Shape.parameters

    public let pairs: [Pair]
    /// The encoded parameters, if they are the same for all exchanges.
    private let written: [UInt8]?

    public init(_ pairs: [Pair]) {
        self.pairs = pairs
        written = URLEdit.written(pairs)
    }

    public init(_ value: Decoded, _ reader: RuleReader) { self.init(reader.pairs(value) { _ in .query }) }

    public var templates: [Template] { pairs.compactMap(\.template) }
    public var words: [String] { pairs.map { "set query \($0.name)" } }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        try filler.pairs(pairs, "query").map { Self($0) }
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        guard let written, !pairs.contains(where: { head.queryMayHold($0.name) }) else {
            return try URLEdit.editQuery(&head) { $0.set(pairs, "query") }
        }
        try URLEdit.checkHasPath(head)
        head.appendQuery(written)
        return .done
    }
}

extension Edit where Self == SetQuery {
    public static func setQuery(_ pairs: [Pair]) -> Self { SetQuery(pairs) }
}
