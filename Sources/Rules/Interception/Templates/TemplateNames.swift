/// The variables of templates, for help texts and for values that take none.
public enum TemplateNames {
    /// All of them in the form `${request.header.NAME}`.
    public static let all = TemplateSource.rows.map(\.example)

    /// The variable that a text between `${` and `}` belongs to; nil if unknown.
    public static func example(of text: String) -> String? {
        TemplateSource.rows.first { text == $0.kind || text.hasPrefix("\($0.kind).") }?.example
    }
}
