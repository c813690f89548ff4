public import Declaration
internal import Formats
public import HTTPCodec

/// `set_state`.
public struct SetState: RequestEdit, ResponseEdit, ErrorEdit {
    public static let name = "set_state"
    public static let doc =
        "Keeps values for the exchange, as ${state.NAME} in the same interceptor. null removes one."
    public static let shape = Shape.map(names, .orNull(.template(.any)))
    public static let needs = EditNeed.nothing
    public static let powers = Powers.observe

    /// The names of values.
    static let names = TextFormat(
        "a name of 1 to 64 letters, digits and any of . _ -", pattern: "^[A-Za-z0-9._-]{1,64}$", isPublic: true
    ) { text in
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == 0x2E || $0 == 0x5F || $0 == 0x2D }
    }

    public let changes: [StateChange]

    public init(_ changes: [StateChange]) { self.changes = changes }

    public init(_ value: Decoded, _ reader: RuleReader) {
        if value.fields?.written.isEmpty == true {
            reader.findings.error(
                value.position, "an edit without a name has no effect; write { NAME: value } or remove the edit")
        }
        self.init(
            (value.fields?.all ?? []).compactMap { field in
                if field.value.isNull { return StateChange(field.name, nil) }
                if let text = field.value.text { return StateChange(field.name, text) }
                return reader.template(field.value, .state).map { StateChange(field.name, nil, template: $0) }
            })
    }

    public var templates: [Template] { changes.compactMap(\.template) }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        var filled: [StateChange] = []
        for change in changes {
            guard let template = change.template else {
                filled.append(change)
                continue
            }
            guard let text = try filler.text(template, "state \(change.name)") else { continue }
            filled.append(StateChange(change.name, text, from: filler.origins(of: template)))
        }
        return filled.isEmpty ? nil : Self(filled)
    }

    public func apply(to head: inout RequestHead) -> EditEffect { .kept(changes) }
    public func apply(to head: inout ResponseHead) -> EditEffect { .kept(changes) }
    public func apply() -> EditEffect { .kept(changes) }
}

/// A change to a named value in the exchange's state.
public struct StateChange: Equatable, Sendable {
    public var name: String
    /// The new value; nil removes it.
    public var value: String?
    /// The template that each exchange fills in; nil for a constant value.
    public var template: Template?
    /// The parts of the exchange that the value came from.
    var origins: [ValueOrigin]

    public init(
        _ name: String, _ value: String?, template: Template? = nil, from origins: [ValueOrigin] = []
    ) {
        self.name = name
        self.value = value
        self.template = template
        self.origins = origins
    }
}
