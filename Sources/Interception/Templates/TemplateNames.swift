/// What may stand in templates, for whoever tells of it, or reads a text in which none may stand.
public enum TemplateNames {
    /// All that there is, as it is written: `${request.header.NAME}`.
    public static let all = TemplateSource.rows.map(\.example)

    /// The one that a text between `${` and `}` is of; nil where that is unknown.
    public static func example(of text: String) -> String? {
        TemplateSource.rows.first { text == $0.kind || text.hasPrefix("\($0.kind).") }?.example
    }
}
