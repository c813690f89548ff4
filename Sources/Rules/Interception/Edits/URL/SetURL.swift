public import Declaration
public import HTTPCodec

/// `set_url`.
public struct SetURL: RequestEdit {
    public static let name = "set_url"
    public static let mayStandIn = true
    public static let doc = "Replaces the whole URL."
    public static let shape = Shape.template(.url)

    public let url: String
    private let template: Template?
    /// The URL contains values of an exchange, so the log does not show it.
    private let isFilled: Bool

    public init(_ url: String) { self.init(url, nil) }

    private init(_ url: String, _ template: Template?, isFilled: Bool = false) {
        self.url = url
        self.template = template
        self.isFilled = isFilled
    }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        let template = reader.template(value, .url)
        guard template != nil || value.text != nil else { return nil }
        self.init(value.text ?? "", template)
    }

    public var templates: [Template] { [template].compactMap { $0 } }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        guard let template else { return self }
        return try filler.text(template, "the URL").map { Self($0, nil, isFilled: true) }
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        try URLEdit.retarget(&head, url)
        return .changed([isFilled ? "set URL" : "set URL to \(URLEdit.place(head))"])
    }
}
