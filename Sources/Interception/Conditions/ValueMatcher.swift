internal import Formats

/// A `TextMatcher` made ready for values in bodies: text by its characters, numbers by what they are worth.
struct ValueMatcher: Sendable {
    private let matcher: Matcher
    /// `"*"`: a value of any kind will do.
    private let isPresence: Bool
    /// The number, truth value, object or array that the exact text means.
    private let literal: JSONValue?

    init(_ matcher: TextMatcher) {
        self.matcher = Matcher(matcher, ignoringCase: false)
        isPresence = matcher.isPresence
        literal = Self.literal(matcher)
    }

    private static func literal(_ matcher: TextMatcher) -> JSONValue? {
        guard case .exact(let text) = matcher, let value = try? JSONValue(parsing: text), value.text == nil else {
            return nil
        }
        return value
    }

    var isPattern: Bool { if case .pattern = matcher { true } else { false } }

    func accepts(_ text: String) -> Bool { matcher.accepts(text.utf8.span) }

    func accepts(_ value: JSONValue) -> Bool {
        if isPresence { return true }
        if let literal, literal.means(value) { return true }
        return value.scalar.map(accepts) ?? false
    }
}

extension JSONValue {
    /// What is neither an object nor an array, as text.
    var scalar: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .bool, .null: serialized
        case .array, .object: nil
        }
    }
}
