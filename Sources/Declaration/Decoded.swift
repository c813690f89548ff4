public import Formats
import HTTPCodec

/// A value of the configuration that has passed the check of its shape.
public struct Decoded: Sendable {
    public indirect enum Content: Sendable {
        case text(String)
        case flag(Bool)
        /// A number, milliseconds or bytes.
        case number(Int)
        /// `unlimited`, `auto`.
        case word
        /// `null` where it may be written.
        case nothing
        /// A text that is made for each exchange; where a `json` is asked for, a JSON text whose places stand in strings.
        case template([TextPart])
        /// Nil for entries that did not pass.
        case list([Decoded?])
        case fields(Fields)
        /// In a type of whoever read it, so that no secret becomes text on its way.
        case secret(any Sendable)
        case json(JSONValue)
    }

    public var position: Position
    /// As it was written, for messages: references are not filled in.
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
    /// True where every entry of a list passed.
    public var isWholeList: Bool { if case .list(let list) = content { !list.contains { $0 == nil } } else { false } }
    public var fields: Fields? { if case .fields(let fields) = content { fields } else { nil } }
    public var json: JSONValue? { if case .json(let json) = content { json } else { nil } }
}
