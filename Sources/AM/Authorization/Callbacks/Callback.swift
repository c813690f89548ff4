internal import Formats

/// One callback of a step.
struct Callback {
    typealias Answer = AuthorizationPolicy.CallbackAnswer

    let json: JSONValue
    let type: String
    /// Nil for an unknown type that has inputs.
    let kind: CallbackKind?

    init(_ json: JSONValue) {
        self.json = json
        let type = json["type"]?.text ?? ""
        self.type = type
        kind = CallbackKind.known[type] ?? (json["input"]?.items?.isEmpty ?? true ? .passive : nil)
    }

    // MARK: reading

    var shownType: String { Self.shown(type) }

    private static func shown(_ type: String) -> String {
        type.isEmpty ? "a callback without a type" : LogText.shown(type)
    }

    var inputs: [JSONValue] { json["input"]?.items ?? [] }

    func output(_ name: String) -> JSONValue? {
        json["output"]?.items?.first { $0["name"]?.text == name }?["value"]
    }

    /// The text that selects answers: the prompt, else the message; for a hidden value its id.
    var prompt: String {
        let name = type == "HiddenValueCallback" ? "id" : "prompt"
        guard let text = output(name)?.text, !text.isEmpty else { return output("message")?.text ?? "" }
        return text
    }

    /// The callback's own name: of an attribute, a consent or a provider, or the id of a hidden value.
    var name: String {
        for key in ["name", "id", "provider"] {
            if let name = output(key)?.text { return name }
        }
        return ""
    }

    /// The type and prompt, for messages.
    var shown: String { Self.shown(type, prompt) }

    static func shown(_ type: String, _ prompt: String) -> String {
        prompt.isEmpty ? shown(type) : "\(shown(type)) \"\(LogText.shown(prompt))\""
    }

    /// The wait in milliseconds. The default is that of AM's own pages; the minimum prevents hammering.
    var waitTime: Int {
        let value = output("waitTime")
        let asked = value?.text.flatMap { Int($0) } ?? value?.integer ?? 8_000
        return max(asked, 100)
    }

    /// The policies that the last answer violated, according to AM.
    var failedPolicies: [String] {
        (output("failedPolicies")?.items ?? []).compactMap { failed in
            // each is a string that contains JSON
            let policy = failed.text.flatMap { try? JSONValue(parsing: $0) } ?? failed
            return policy["policyRequirement"] == nil ? failed.text.map(LogText.shown) : Self.words(policy)
        }
    }

    /// The policy as text, such as `LENGTH_BASED (min-password-length 8)`.
    static func words(_ policy: JSONValue) -> String {
        let name = LogText.shown(policy["policyRequirement"]?.text ?? "a policy without a name")
        // string parameters are left out because they may quote the value
        let facts = (policy["params"]?.members ?? []).compactMap { member -> String? in
            switch member.value {
            case .number, .bool: "\(LogText.shown(member.name)) \(LogText.shown(member.value.serialized))"
            default: nil
            }
        }
        return facts.isEmpty ? name : "\(name) (\(facts.prefix(4).joined(separator: ", ")))"
    }

    // MARK: choices

    /// The labels with their numbers.
    var choices: [(label: String, number: Int)] {
        let labels = (output("choices") ?? output("options"))?.items?.map { $0.text ?? "" } ?? []
        return labels.isEmpty ? presetChoices : labels.enumerated().map { (label: $0.element, number: $0.offset) }
    }

    /// The default choices of a confirmation without options (docs/protocol.md#callbacks).
    private var presetChoices: [(label: String, number: Int)] {
        guard type == "ConfirmationCallback" else { return [] }
        return switch output("optionType")?.integer {
        case 0: [("Yes", 0), ("No", 1)]
        case 1: [("Yes", 0), ("No", 1), ("Cancel", 2)]
        case 2: [("OK", 3), ("Cancel", 2)]
        default: []
        }
    }

    /// Identity providers: AM's name and the label for people.
    var providers: [(name: String, label: String)] {
        (output("providers")?.items ?? []).compactMap { provider in
            provider["provider"]?.text.map { name in
                (name: name, label: provider["uiConfig"]?["buttonDisplayName"]?.text ?? name)
            }
        }
    }

    // MARK: inputs

    /// The index of the first input other than `validateOnly`.
    static func mainInput(of inputs: [JSONValue]) -> Int? {
        inputs.firstIndex { $0["name"]?.text.map { !$0.hasSuffix("validateOnly") } ?? false }
    }

    /// The rest of an input's name after `IDToken` and its number, such as `question` for `IDToken1question`.
    static func suffix(_ input: JSONValue) -> String {
        let name = input["name"]?.text ?? ""
        guard name.hasPrefix("IDToken") else { return name }
        return String(name.dropFirst(7).drop { $0.isASCII && $0.isNumber })
    }

    /// The names of the inputs that have one.
    var inputNames: [String] { inputs.map(Self.suffix).filter { !$0.isEmpty && $0 != "validateOnly" } }

    /// The callback with its main input set.
    func setting(_ value: JSONValue) throws(StepUp.Failure) -> JSONValue {
        guard let index = Self.mainInput(of: inputs) else {
            throw StepUp.Failure(.unsupportedCallback, "\(shown) has no input to fill in")
        }
        return setting([(index, value)])
    }

    func setting(_ values: [(index: Int, value: JSONValue)]) -> JSONValue {
        var inputs = inputs
        for (index, value) in values where inputs.indices.contains(index) { inputs[index]["value"] = value }
        var filled = json
        filled["input"] = .array(inputs)
        return filled
    }

    /// The callback with inputs set by name. Each value takes the JSON type of AM's preset value.
    func setting(_ texts: [NamedText]) throws(StepUp.Failure) -> JSONValue {
        var values: [(index: Int, value: JSONValue)] = []
        for text in texts {
            guard let index = index(named: text.name) else {
                let names = inputNames.map(LogText.shown).joined(separator: ", ")
                throw StepUp.Failure(
                    .unanswered,
                    "\(shown) has no input \"\(LogText.shown(text.name))\"; it has \(names.isEmpty ? "none with a name" : names)"
                )
            }
            values.append((index, try value(of: text.text, like: inputs[index]["value"])))
        }
        return setting(values)
    }

    private func index(named name: String) -> Int? {
        inputs.firstIndex { Self.suffix($0) == name || $0["name"]?.text == name }
    }

    func input(named name: String) -> JSONValue? { index(named: name).map { inputs[$0] } }

    private func value(of text: String, like preset: JSONValue?) throws(StepUp.Failure) -> JSONValue {
        switch preset {
        case .bool: .bool(try truth(text))
        case .number: try number(text)
        default: .string(text)
        }
    }

    func truth(_ text: String) throws(StepUp.Failure) -> Bool {
        guard let value = OpenCallback.truth(text) else {
            throw StepUp.Failure(.unanswered, "the answer for \(shown) is neither true nor false")
        }
        return value
    }

    func number(_ text: String) throws(StepUp.Failure) -> JSONValue {
        guard let value = OpenCallback.number(text) else {
            throw StepUp.Failure(.unanswered, "the answer for \(shown) is not a number")
        }
        return value
    }
}
