internal import HTTPCodec

/// A value of the configuration that has passed the check of its shape.
struct Decoded: Sendable {
    indirect enum Content: Sendable {
        case text(String)
        case flag(Bool)
        /// A number, milliseconds or bytes.
        case number(Int)
        /// `unlimited`, `auto`.
        case word
        /// Nil for entries that did not pass.
        case list([Decoded?])
        case fields(Fields)
        case secret(KeyReference)
        case json(JSONValue)
    }

    var position: Position
    /// As it was written, for messages: references are not filled in.
    var written: String
    var content: Content

    var text: String? { if case .text(let text) = content { text } else { nil } }
    var flag: Bool? { if case .flag(let flag) = content { flag } else { nil } }
    var number: Int? { if case .number(let number) = content { number } else { nil } }
    var list: [Decoded] { if case .list(let list) = content { list.compactMap { $0 } } else { [] } }
    /// True for a list that was written without entries.
    var isEmptyList: Bool { if case .list(let list) = content { list.isEmpty } else { false } }
    /// True where every entry of a list passed.
    var isWholeList: Bool { if case .list(let list) = content { !list.contains { $0 == nil } } else { false } }
    var fields: Fields? { if case .fields(let fields) = content { fields } else { nil } }
    var secret: KeyReference? { if case .secret(let secret) = content { secret } else { nil } }
    var json: JSONValue? { if case .json(let json) = content { json } else { nil } }
}

/// The keys of one object or map, in the order of the file. Values that did not pass are left out; `has` knows of them.
struct Fields: Sendable {
    struct Field: Sendable {
        var name: String
        var position: Position
        var value: Decoded
    }

    var position: Position
    var all: [Field] = []
    var written: Set<String> = []

    func has(_ name: String) -> Bool { written.contains(name) }

    /// Where the key stands whose value passed.
    func position(of name: String) -> Position? { all.first { $0.name == name }?.position }

    subscript(_ name: String) -> Decoded? { all.first { $0.name == name }?.value }

    func text(_ name: String) -> String? { self[name]?.text }
    func flag(_ name: String) -> Bool? { self[name]?.flag }
    func number(_ name: String) -> Int? { self[name]?.number }
    func list(_ name: String) -> [Decoded] { self[name]?.list ?? [] }
    func fields(_ name: String) -> Fields? { self[name]?.fields }
}
