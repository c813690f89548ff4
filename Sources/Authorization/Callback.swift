internal import Formats
internal import HTTPCodec
internal import Interception

/// One callback of a step.
struct Callback {
    typealias Answer = AuthorizationPolicy.CallbackAnswer

    let json: JSONValue
    let type: String

    init(_ json: JSONValue) {
        self.json = json
        type = json["type"]?.text ?? ""
    }

    private var kind: CallbackKind { CallbackKind.known[type] ?? (inputs.isEmpty ? .passive : .unsupported) }

    // MARK: reading

    var shownType: String { Self.shown(type) }

    private static func shown(_ type: String) -> String {
        type.isEmpty ? "a callback without a type" : LogText.shown(type)
    }

    private var inputs: [JSONValue] { json["input"]?.items ?? [] }

    private func output(_ name: String) -> JSONValue? {
        json["output"]?.items?.first { $0["name"]?.text == name }?["value"]
    }

    /// What answers are chosen by: the prompt, the message where there is none, and a hidden value's id.
    private var prompt: String {
        let name = type == "HiddenValueCallback" ? "id" : "prompt"
        guard let text = output(name)?.text, !text.isEmpty else { return output("message")?.text ?? "" }
        return text
    }

    /// For a reason: the type and, where there is one, the prompt.
    private var shown: String { Self.shown(type, prompt) }

    static func shown(_ type: String, _ prompt: String) -> String {
        prompt.isEmpty ? shown(type) : "\(shown(type)) \"\(LogText.shown(prompt))\""
    }

    /// Milliseconds to wait, by default as long as AM's own pages do. Never so short that waiting becomes hammering.
    var waitTime: Int {
        let value = output("waitTime")
        let asked = value?.text.flatMap { Int($0) } ?? value?.integer ?? 8_000
        return max(asked, 100)
    }

    // MARK: a person

    /// What a person is asked where the configuration has no answer, or says so; nil where nothing is to be answered.
    /// - Parameter asks: what no answer fits is asked, too.
    func open(_ index: Int, answers: [Answer], asks: Bool, fallsBack: Bool) -> OpenCallback? {
        if let answer = answer(from: answers) {
            guard answer.response == .ask else { return nil }
        } else {
            guard asks, device == nil || fallsBack else { return nil }
            if case .optional = kind { return nil }
        }
        guard kind.takesAnswer, Self.mainInput(of: inputs) != nil else { return nil }
        var open = OpenCallback(index: index, type: type, prompt: prompt, form: form)
        open.choices = choices.map { .init($0.1, $0.0) }
        open.isSecret = isSecret
        open.policies = (output("failedPolicies")?.items ?? []).compactMap { failed in
            guard let text = failed.text else { return nil }
            return (try? JSONValue(parsing: text))?["policyRequirement"]?.text ?? text
        }
        return open
    }

    private var form: OpenCallback.Form {
        switch kind {
        case .choice: .choice
        case .truth: .truth
        case .number: .number
        case .text, .optional, .passive, .unsupported: .text
        }
    }

    private var isSecret: Bool {
        switch type {
        case "PasswordCallback": true
        case "ValidatedCreatePasswordCallback": output("echoOn") != .bool(true)
        default: false
        }
    }

    /// The callback with what a person said, which was judged.
    func filled(_ open: OpenCallback, told texts: [String]) throws(StepUp.Failure) -> JSONValue {
        let text = texts.first ?? ""
        let value: JSONValue? =
            switch open.form {
            case .text: .string(text)
            case .number: OpenCallback.number(text)
            case .truth: OpenCallback.truth(text).map { .bool($0) }
            case .choice: open.choice(text).map { .integer($0) }
            }
        guard let value else { throw StepUp.Failure(.unanswered, "what a person said to \(shown) is no answer") }
        return try setting(value)
    }

    // MARK: answering

    /// The first answer for this type whose prompt fits.
    func answer(from answers: [Answer]) -> Answer? {
        answers.first { answer in
            guard answer.callback == type else { return false }
            guard let glob = answer.prompt else { return true }
            return Glob.matches(glob, prompt, ignoringCase: true)
        }
    }

    /// The callback with its input set; nil where it goes back as it came.
    /// - Parameter fallsBack: the configuration answers a hidden value of this step, which is how a tree is told that a
    ///   device is not to be had; only then may what asks for the device go back.
    func fill(from answers: [Answer], fallsBack: Bool) throws(StepUp.Failure) -> JSONValue? {
        if type == "SuspendedTextOutputCallback" {
            throw StepUp.Failure(.suspended, "the tree goes on by a link that was sent to the user")
        }
        let answer = answer(from: answers)
        if let device, answer == nil, !fallsBack {
            throw StepUp.Failure(.unsupportedCallback, "the tree asks for \(device), which takes a device")
        }
        switch kind {
        case .passive: return nil
        case .unsupported: throw StepUp.Failure(.unsupportedCallback, "\(shown) cannot be answered by configuration")
        case .optional where answer == nil: return nil
        default: break
        }
        guard let answer else {
            throw StepUp.Failure(.unanswered, "no answer is configured for \(shown)")
        }
        return try setting(try value(of: answer))
    }

    /// What the filled callback tells AM.
    func given(in filled: JSONValue) -> GivenAnswers.Answer {
        let isChoice =
            switch kind {
            case .choice, .truth, .optional: true
            case .text, .number, .passive, .unsupported: false
            }
        let inputs = filled["input"]?.items ?? []
        let value = Self.mainInput(of: inputs).flatMap { inputs[$0]["value"] }
        return .init(type: type, prompt: prompt, value: value?.serialized ?? "", isChoice: isChoice)
    }

    /// What a callback asks of a device or its sensors (docs/protocol.md#callbacks), beside the types that say so.
    private var device: String? {
        let data = type == "MetadataCallback" ? output("data") : nil
        let id = type == "HiddenValueCallback" ? output("id")?.text : nil
        let action = data?["_action"]?.text ?? ""
        if data?["_type"]?.text == "WebAuthn" || action.hasPrefix("webauthn_") || id == "webAuthnOutcome" {
            return "WebAuthn"
        }
        if data?["_type"]?.text == "PingOneProtect" || action.hasPrefix("protect_")
            || id == "pingone_risk_evaluation_signals"
        {
            return "PingOne Protect signals"
        }
        return nil
    }

    private func value(of answer: Answer) throws(StepUp.Failure) -> JSONValue {
        let text: String
        switch (answer.response, kind) {
        case (.value(let value), _): text = value
        case (.choose(let label), .choice), (.choose(let label), .truth): text = label
        case (.ask, _): throw StepUp.Failure(.unanswered, "a person would have to be asked for \(shown)")
        case (.choose, _):
            throw StepUp.Failure(
                .unanswered, "the answer for \(shown) says choose, but there is nothing to choose from")
        }
        switch kind {
        case .choice: return .integer(try choice(text))
        case .truth:
            switch ASCII.lowercased(text) {
            case "true", "yes": return .bool(true)
            case "false", "no": return .bool(false)
            default: throw StepUp.Failure(.unanswered, "the answer for \(shown) is neither true nor false")
            }
        case .number:
            guard let value = try? JSONValue(parsing: text), case .number = value else {
                throw StepUp.Failure(.unanswered, "the answer for \(shown) is no number")
            }
            return value
        default: return .string(text)
        }
    }

    /// The number that stands for a label; a number of the list itself is taken too.
    private func choice(_ label: String) throws(StepUp.Failure) -> Int {
        let fits =
            choices.first { ASCII.equal($0.0, label) }
            ?? choices.first {
                Glob.matches(label, $0.0, ignoringCase: true)
            }
        if let fits { return fits.1 }
        if let number = Int(label), choices.contains(where: { $0.1 == number }) { return number }
        throw StepUp.Failure(.unanswered, "\(shown) offers no choice that fits the configured answer")
    }

    private var choices: [(String, Int)] {
        let labels = (output("choices") ?? output("options"))?.items?.map { $0.text ?? "" } ?? []
        return labels.isEmpty ? presetChoices : labels.enumerated().map { ($0.element, $0.offset) }
    }

    /// The words and numbers of a confirmation that lists no options of its own (docs/protocol.md#callbacks).
    private var presetChoices: [(String, Int)] {
        guard type == "ConfirmationCallback" else { return [] }
        return switch output("optionType")?.integer {
        case 0: [("Yes", 0), ("No", 1)]
        case 1: [("Yes", 0), ("No", 1), ("Cancel", 2)]
        case 2: [("OK", 3), ("Cancel", 2)]
        default: []
        }
    }

    /// The first input that is not the switch for checking alone.
    private static func mainInput(of inputs: [JSONValue]) -> Int? {
        inputs.firstIndex { $0["name"]?.text.map { !$0.hasSuffix("validateOnly") } ?? false }
    }

    /// The callback with its main input set.
    private func setting(_ value: JSONValue) throws(StepUp.Failure) -> JSONValue {
        var inputs = inputs
        guard let index = Self.mainInput(of: inputs) else {
            throw StepUp.Failure(.unsupportedCallback, "\(shown) has no input to fill in")
        }
        inputs[index]["value"] = value
        var filled = json
        filled["input"] = .array(inputs)
        return filled
    }
}
