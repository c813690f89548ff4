public import Declaration
public import HTTPCodec

/// `set_query` and `add_query`.
public struct PairedQuery<Way: PairWay>: RequestEdit {
    public static var name: String { "\(Way.verb)_query" }
    public static var doc: String {
        Way.adds ? "Adds query parameters. Those of the same name stay." : "Replaces or adds query parameters."
    }
    public static var shape: Shape { .parameters }

    public let pairs: [Pair]
    /// The encoded parameters, if they are the same for all exchanges.
    private let written: [UInt8]?

    public init(_ pairs: [Pair]) {
        self.pairs = pairs
        written = URLEdit.written(pairs)
    }

    public init(_ value: Decoded, _ reader: RuleReader) { self.init(reader.pairs(value) { _ in .query }) }

    public var templates: [Template] { pairs.compactMap(\.template) }
    public var words: [String] { pairs.map { "\(Way.pastVerb) query \($0.name)" } }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        try filler.pairs(pairs, "query").map { Self($0) }
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        guard let written, Way.adds || !pairs.contains(where: { head.queryMayHold($0.name) }) else {
            return try URLEdit.editQuery(&head) { $0.write(pairs, "query", Way.self) }
        }
        try URLEdit.checkHasPath(head)
        head.appendQuery(written)
        return .done
    }
}

public typealias SetQuery = PairedQuery<Setting>
public typealias AddQuery = PairedQuery<Adding>
