public import Declaration
public import HTTPCodec

/// `remove_query`.
public struct RemoveQuery: RequestEdit {
    public static let name = "remove_query"
    public static let doc = "Removes query parameters by name or glob."
    public static let shape = Shape.namesOrGlobs

    public let names: [String]

    public init(_ names: [String]) { self.names = names }
    public init(_ value: Decoded, _ reader: RuleReader) { self.init(reader.names(value)) }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        try URLEdit.editQuery(&head) { $0.remove(names, "query") }
    }
}
