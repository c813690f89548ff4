public import Declaration

/// `user_agent`.
public struct UserAgent: BuiltIn {
    public static let name = "user_agent"
    public static let doc =
        "Replaces the User-Agent of requests."
    public static let shape = Shape.text(.headerValue)

    private let value: String

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let text = value.text else { return nil }
        guard !text.isEmpty else {
            reader.findings.error(
                value.position, "the value is empty; write one, such as Shop/2.1, or use remove_header"
            )
            return nil
        }
        self.value = text
    }

    public func equip(_ rule: inout Rule) { rule.request = [SetHeader([Pair("User-Agent", value)])] }

    public var words: String { "sets the header User-Agent" }
}
