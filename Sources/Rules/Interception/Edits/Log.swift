public import Declaration
public import HTTPCodec

/// `log`.
public struct Log: RequestEdit, ResponseEdit, ErrorEdit {
    public static let name = "log"
    public static let doc = "Writes a line to the log, with the interceptor's name and the flow. Secrets are redacted."
    public static let shape = Shape.template(.any)
    public static let needs = EditNeed.nothing
    public static let powers = Powers.observe

    private let parts: [LoggedPart]
    private let template: Template?

    public init(_ text: String) { self.init([.text(text)]) }

    private init(_ parts: [LoggedPart], _ template: Template? = nil) {
        self.parts = parts
        self.template = template
    }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        if let text = value.text {
            if text.isEmpty { reader.findings.error(value.position, "the text is empty; write one") }
            self.init(text)
        } else {
            guard let template = reader.template(value, .text) else { return nil }
            self.init([], template)
        }
    }

    public var templates: [Template] { [template].compactMap { $0 } }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        guard let template else { return self }
        return Self(try filler.logged(template))
    }

    public func apply(to head: inout RequestHead) -> EditEffect { .log(parts) }
    public func apply(to head: inout ResponseHead) -> EditEffect { .log(parts) }
    public func apply() -> EditEffect { .log(parts) }
}
