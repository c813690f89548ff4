internal import Formats

/// A callback for a person: the text to show and the accepted answers.
public struct OpenCallback: Equatable, Sendable {
    /// The type of an answer.
    public enum Form: String, Equatable, Sendable { case text, number, truth, choice }

    public struct Choice: Equatable, Sendable {
        /// The value for AM.
        public var number: Int
        public var label: String

        public init(_ number: Int, _ label: String) {
            self.number = number
            self.label = label
        }
    }

    /// The index among the callbacks of the page, from 0.
    public var index: Int
    public var type: String
    public var prompt: String
    public var form: Form
    /// The offered choices.
    public var choices: [Choice] = []
    /// True if the input must not be echoed.
    public var isSecret = false
    /// The policies that the last answer violated, according to AM.
    public var policies: [String] = []
    /// The names of the inputs, if they have names. Each takes its own text.
    public var parts: [String] = []
    /// The forms of the named inputs.
    var partForms: [Form] = []

    public init(index: Int, type: String, prompt: String, form: Form) {
        self.index = index
        self.type = type
        self.prompt = prompt
        self.form = form
    }

    /// The type and prompt, for messages.
    public var shown: String { Callback.shown(type, prompt) }

    /// The limit of one text in bytes.
    public static let maxText = 16 << 10

    /// The reason why an answer is invalid, worded for the person; nil if it is valid.
    public func refusal(of texts: [String]) -> String? {
        guard texts.count == max(1, parts.count) else {
            return parts.isEmpty
                ? "\(shown) takes one value, not \(texts.count)"
                : "\(shown) takes \(parts.count) values (\(parts.joined(separator: ", "))), not \(texts.count)"
        }
        if texts.contains(where: { $0.utf8.count > Self.maxText }) {
            return "an answer has \(Self.maxText >> 10) KiB at most"
        }
        for (part, (form, text)) in zip(parts, zip(partForms, texts)) {
            if let reason = refusal(of: text, form, "\(shown), \(LogText.shown(part))") { return reason }
        }
        guard parts.isEmpty, let text = texts.first else { return nil }
        return refusal(of: text, form, shown)
    }

    private func refusal(of text: String, _ form: Form, _ shown: String) -> String? {
        switch form {
        case .text: return nil
        case .number: return Self.number(text) == nil ? "\(shown) takes a number" : nil
        case .truth: return Self.truth(text) == nil ? "\(shown) takes yes or no" : nil
        case .choice:
            if choice(text) != nil { return nil }
            let offered = choices.map { "\($0.number) \(LogText.shown($0.label))" }.joined(separator: ", ")
            return "\(shown) has no such choice; it offers \(offered.isEmpty ? "none" : offered)"
        }
    }

    /// The number of a label. A number from the list is accepted too.
    func choice(_ text: String) -> Int? {
        choices.first { $0.label == text || ASCII.equal($0.label, text) }?.number
            ?? Int(text).flatMap { number in choices.first { $0.number == number }?.number }
    }

    static func number(_ text: String) -> JSONValue? {
        guard let value = try? JSONValue(parsing: text), case .number = value else { return nil }
        return value
    }

    static func truth(_ text: String) -> Bool? {
        switch ASCII.lowercased(text) {
        case "true", "yes": true
        case "false", "no": false
        default: nil
        }
    }
}
