public import Declaration
public import HTTPCodec

/// `set_path`.
public struct SetPath: RequestEdit {
    public static let name = "set_path"
    public static let doc = "Replaces the path. The query stays."
    public static let shape = Shape.template(.path)

    public let path: String
    private let template: Template?

    public init(_ path: String) { self.init(path, nil) }

    private init(_ path: String, _ template: Template?) {
        self.path = path
        self.template = template
    }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        let template = reader.template(value, .url)
        guard template != nil || value.text != nil else { return nil }
        self.init(value.text ?? "", template)
    }

    public var templates: [Template] { [template].compactMap { $0 } }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        guard let template else { return self }
        return try filler.text(template, "the path").map { Self($0) }
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        guard path.utf8.first == 0x2F else { throw EditFault(reason: "a path must begin with a slash") }
        guard !path.utf8.contains(0x3F) else {
            throw EditFault(reason: "a path must not have a question mark; use set_query for the query")
        }
        let old = head.target
        let query = old.query.map { "?\(head.fields.text($0))" } ?? ""
        try URLEdit.retarget(&head, "\(old.scheme.name)://\(head.fields.text(old.authority))\(path)\(query)")
        return .changed(["set path"])
    }
}
