public import Declaration
import Formats
public import HTTPCodec

/// `set_header` and `add_header`.
public struct PairedHeader<Way: PairWay>: RequestEdit, ResponseEdit {
    public static var name: String { "\(Way.verb)_header" }
    public static var doc: String {
        Way.adds ? "Adds headers. Those of the same name stay." : "Replaces or adds headers."
    }
    public static var shape: Shape { .headers }

    public let pairs: [Pair]
    private let isSound: Bool

    public init(_ pairs: [Pair]) {
        self.pairs = pairs
        isSound = HeaderEdit.areSound(pairs)
    }

    public init(_ value: Decoded, _ reader: RuleReader) { self.init(reader.headers(value)) }

    public var templates: [Template] { pairs.compactMap(\.template) }
    public var words: [String] { pairs.map { "\(Way.pastVerb) header \($0.name)" } }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        try filler.pairs(pairs, "header").map { Self($0) }
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        if !isSound {
            for pair in pairs where ASCII.equal(pair.name, "host") {
                try HeaderEdit.checkHost(pair.value)
                guard !Way.adds || !head.fields.contains(.host) else {
                    throw EditFault(reason: "a request carries one Host header; use set_header")
                }
            }
        }
        return try write(&head.fields)
    }

    public func apply(to head: inout ResponseHead) throws(EditFault) -> EditEffect { try write(&head.fields) }

    private func write(_ fields: inout FieldTable) throws(EditFault) -> EditEffect {
        var notes: [String] = []
        for pair in pairs {
            if !isSound {
                try HeaderEdit.check(pair)
                guard HeaderRules.isWritable(pair.name) else {
                    notes.append(HeaderEdit.ignored(pair.name))
                    continue
                }
                notes.append("\(Way.pastVerb) header \(pair.name)")
            }
            if Way.adds { fields.add(pair.name, pair.value) } else { fields.set(pair.name, pair.value) }
        }
        return isSound ? .done : .changed(notes)
    }
}

public typealias SetHeader = PairedHeader<Setting>
public typealias AddHeader = PairedHeader<Adding>
