public import Declaration

/// `user_agent`.
public struct UserAgent: BuiltIn {
    public static let name = "user_agent"
    public static let doc =
        "Names the program that asks: the field User-Agent of requests, in the place of what the app wrote."
    public static let shape = Shape.text(.headerValue)

    private let value: String

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let text = value.text else { return nil }
        guard !text.isEmpty else {
            reader.findings.error(
                value.position, "an empty name tells nothing; write one, such as Shop/2.1, or remove the header instead"
            )
            return nil
        }
        self.value = text
    }

    public func equip(_ rule: inout Rule) { rule.request = [SetHeader([Pair("User-Agent", value)])] }

    public var words: String { "sets the header User-Agent" }
}
