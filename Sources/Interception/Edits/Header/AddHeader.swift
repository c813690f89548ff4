public import Declaration
import Formats
public import HTTPCodec

/// `add_header`.
public struct AddHeader: RequestEdit, ResponseEdit {
    public static let name = "add_header"
    public static let doc = "Adds headers beside those of the name."
    public static let shape = Shape.headers

    public let pairs: [Pair]
    private let isSound: Bool

    public init(_ pairs: [Pair]) {
        self.pairs = pairs
        isSound = HeaderEdit.areSound(pairs)
    }

    public init(_ value: Decoded, _ reader: RuleReader) { self.init(reader.headers(value)) }

    public var templates: [Template] { pairs.compactMap(\.template) }
    public var words: [String] { pairs.map { "added header \($0.name)" } }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        try filler.pairs(pairs, "header").map { Self($0) }
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        if !isSound {
            for pair in pairs where ASCII.equal(pair.name, "host") {
                try HeaderEdit.checkHost(pair.value)
                guard !head.fields.contains(.host) else {
                    throw EditFault(reason: "a request carries one Host header; use set_header")
                }
            }
        }
        return try write(&head.fields)
    }

    public func apply(to head: inout ResponseHead) throws(EditFault) -> EditEffect { try write(&head.fields) }

    private func write(_ fields: inout FieldTable) throws(EditFault) -> EditEffect {
        guard isSound else { return try HeaderEdit.add(pairs, to: &fields) }
        for pair in pairs { fields.add(pair.name, pair.value) }
        return .done
    }
}

extension Edit where Self == AddHeader {
    public static func addHeader(_ pairs: [Pair]) -> Self { AddHeader(pairs) }
}
