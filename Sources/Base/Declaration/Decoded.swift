public import Formats

/// A configuration value that has the shape of its key.
public struct Decoded: Sendable {
    public indirect enum Content: Sendable {
        case text(String)
        case flag(Bool)
        /// A number, a duration in milliseconds, or a size in bytes.
        case number(Int)
        /// `unlimited` or `auto`.
        case word
        /// `null`, if the shape permits it.
        case nothing
        /// Text with variables, `${…}`, that exchanges fill in. For a `json` value it is JSON text with variables inside strings.
        case template([TextPart])
        /// Nil for invalid entries.
        case list([Decoded?])
        case fields(Fields)
        /// A secret in a type of the reader's own, so that it never becomes a String.
        case secret(any Sendable)
        case json(JSONValue)
    }

    public var position: Position
    /// The text as written, for messages, without substitutions.
    public var written: String
    public var content: Content

    public init(position: Position, written: String, content: Content) {
        self.position = position
        self.written = written
        self.content = content
    }

    public var text: String? { if case .text(let text) = content { text } else { nil } }
    public var isNull: Bool { if case .nothing = content { true } else { false } }
    public var parts: [TextPart]? { if case .template(let parts) = content { parts } else { nil } }
    public var flag: Bool? { if case .flag(let flag) = content { flag } else { nil } }
    public var number: Int? { if case .number(let number) = content { number } else { nil } }
    public var list: [Decoded] { if case .list(let list) = content { list.compactMap { $0 } } else { [] } }
    /// True for a list that was written without entries.
    public var isEmptyList: Bool { if case .list(let list) = content { list.isEmpty } else { false } }
    /// True if every entry of the list is valid.
    public var isWholeList: Bool { if case .list(let list) = content { !list.contains { $0 == nil } } else { false } }
    public var fields: Fields? { if case .fields(let fields) = content { fields } else { nil } }
    public var json: JSONValue? { if case .json(let json) = content { json } else { nil } }
}
