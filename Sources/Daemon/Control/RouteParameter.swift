/// A parameter of a route and its form.
public struct RouteParameter: Sendable {
    public enum Form: Sendable {
        /// A text with a limit of Unicode scalars.
        case text(most: Int)
        case integer(ClosedRange<Int>)
        case choice([String])
        /// `true` or `false`.
        case flag
    }

    public let name: String
    public let form: Form
    public let doc: String
    public let isInPath: Bool
    /// True if it may be repeated.
    public let isList: Bool
    public let isRequired: Bool

    private init(_ name: String, _ form: Form, _ doc: String, _ isInPath: Bool, _ isList: Bool, _ isRequired: Bool) {
        self.name = name
        self.form = form
        self.doc = doc
        self.isInPath = isInPath
        self.isList = isList
        self.isRequired = isRequired
    }

    /// A parameter `{name}` in the path.
    public static func path(_ name: String, _ doc: String) -> RouteParameter {
        RouteParameter(name, .text(most: 256), doc, true, false, true)
    }

    public static func query(
        _ name: String, _ form: Form, _ doc: String, isList: Bool = false, isRequired: Bool = false
    ) -> RouteParameter {
        RouteParameter(name, form, doc, false, isList, isRequired)
    }

    /// The fault of a value as text; nil if it is valid.
    func fault(in value: String) -> String? {
        switch form {
        case .text(let most):
            return value.unicodeScalars.count > most ? "is longer than \(most) characters" : nil
        case .integer(let range):
            guard let number = Self.number(value), range.contains(number) else {
                if range.upperBound == .max { return "is not a whole number of at least \(range.lowerBound)" }
                return "is not a whole number from \(range.lowerBound) to \(range.upperBound)"
            }
            return nil
        case .choice(let words):
            return words.contains { $0.utf8.elementsEqual(value.utf8) }
                ? nil : "is not one of \(words.joined(separator: ", "))"
        case .flag:
            return value == "true" || value == "false" ? nil : "is neither true nor false"
        }
    }

    /// Parses digits with an optional minus, without plus or separators.
    static func number(_ text: String) -> Int? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
