internal import Formats

/// A `TextMatcher` compiled for values in bodies. Text is compared by characters, numbers by value.
struct ValueMatcher: Sendable {
    private let matcher: Matcher
    /// `"*"`: any value matches.
    private let isPresence: Bool
    /// The number, boolean, object or array that the exact text denotes.
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
    /// The text of a value that is neither an object nor an array.
    var scalar: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .bool, .null: serialized
        case .array, .object: nil
        }
    }
}
