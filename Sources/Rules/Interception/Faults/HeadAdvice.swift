internal import Formats
internal import HTTPCodec

/// How the head of a response carries an advice (docs/protocol.md#advice).
enum HeadAdvice {
    static let scheme = "SSOADVICE"
    /// The parameter of the challenge.
    static let parameter = "advices"
    /// The parameter of the redirect.
    static let value = "authIndexValue"
    static let tree = "AuthenticateToServiceConditionAdvice"

    static func encoded(_ advices: JSONValue) -> String { Base64.encode(Array(advices.serialized.utf8)) }

    /// One condition of the document.
    static func pair(_ name: String, _ value: String) -> String {
        "<AttributeValuePair><Attribute name=\"\(name)\"/><Value>\(MarkupText.escaped(value))</Value></AttributeValuePair>"
    }
}

extension FieldTable {
    /// Edits the challenges of one scheme in `WWW-Authenticate`. Lines without one stay as they are.
    mutating func editChallenges(
        named scheme: String, writtenBy write: ([Challenge]) -> String = Self.line, _ edit: (inout Challenge) -> Void
    ) {
        for index in slots.indices where slots[index].known == .wwwAuthenticate {
            var challenges = Challenge.list(value(index))
            let places = challenges.indices.filter { ASCII.equal(challenges[$0].scheme, scheme) }
            guard !places.isEmpty else { continue }
            for place in places { edit(&challenges[place]) }
            setValue(index, write(challenges))
        }
    }

    private static func line(_ challenges: [Challenge]) -> String {
        challenges.map(\.text).joined(separator: ", ")
    }
}

extension ResponseHead {
    /// Edits the query of a redirect with an advice.
    mutating func editAdvice(_ edit: (inout QueryText) -> Void) {
        guard let index = fields.first(named: "Location") else { return }
        let parts = fields.value(index).utf8.split(separator: 0x3F, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let ending = parts[1].drop { $0 != 0x23 }
        var query = QueryText(Substring(parts[1].prefix { $0 != 0x23 }))
        guard query["authIndexType"] == "composite_advice", query[HeadAdvice.value] != nil else { return }
        edit(&query)
        fields.setValue(index, "\(Substring(parts[0]))?\(query.text)\(Substring(ending))")
    }
}
