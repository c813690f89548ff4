internal import Formats

/// Faulty advice of the gateway.
extension Faults {
    /// The AM address in the advice.
    func server(_ url: String) -> String { has(.foreignAM) ? "http://am.evil.example/am" : url }

    /// The conditions of the advice.
    func conditions(_ advice: CompositeAdvice) -> CompositeAdvice {
        var advice = advice
        if has(.unknown) { advice.pairs[0].name = "SandboxConditionAdvice" }
        if let count = self[.thousand] {
            let first = advice.pairs[0].values.first ?? ""
            advice.pairs[0].values = (0..<count).map { $0 == 0 ? first : String($0) }
        }
        if let count = self[.huge] { advice.pairs[0].values = [String(repeating: "a", count: count)] }
        if has(.entities) { advice.pairs[0].values = ["&lol9;&#x41;&xxe;"] }
        return advice
    }

    /// The `advices` parameter of a challenge; nil if it is missing.
    func encoded(_ advice: CompositeAdvice) -> String? {
        if has(.noValue) { return nil }
        if has(.badBase64) { return "%7B%22not base64%22" }
        let text = advice.json.serialized
        return Base64.encode(Array((has(.badJSON) ? String(text.dropLast(2)) : text).utf8))
    }

    /// The document of a redirect.
    func document(_ advice: CompositeAdvice) -> String {
        if has(.badBase64) { return "***not base64***" }
        if has(.badJSON) { return "<Advices><AttributeValuePair></Advices>" }
        guard has(.entities) else { return advice.xml }
        let lines = (1...9).map { "<!ENTITY lol\($0) \"\(String(repeating: "&lol\($0 - 1);", count: 10))\">" }
        let entities = "<!ENTITY lol0 \"lol\"><!ENTITY xxe SYSTEM \"file:///etc/passwd\">" + lines.joined()
        return "<?xml version=\"1.0\"?><!DOCTYPE Advices [\(entities)]>"
            + advice.xml.replacing("&amp;", with: "&")
    }

    /// Half of the text if it is to be truncated.
    func cut(_ text: String) -> String { has(.cut) ? String(text.prefix(text.count / 2)) : text }
}
