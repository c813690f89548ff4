internal import Formats

/// Which callbacks a person is asked, and how the person's answers are filled in.
extension Callback {
    /// The question for a person, if the configuration says `ask` or has no answer; nil if there is nothing to ask.
    /// - Parameter asks: true to ask also where no answer matches.
    func open(_ index: Int, _ answer: Answer?, asks: Bool, fallsBack: Bool) -> OpenCallback? {
        if let answer {
            guard answer.response == .ask else { return nil }
        } else {
            guard asks, device == nil || fallsBack, isForPersons else { return nil }
        }
        guard let form, Self.mainInput(of: inputs) != nil else { return nil }
        var open = OpenCallback(index: index, type: type, prompt: prompt, form: form)
        open.choices =
            kind == .provider
            ? providers.enumerated().map { .init($0.offset, $0.element.label) }
            : choices.map { .init($0.number, $0.label) }
        if hasParts {
            open.parts = inputNames
            open.partForms = open.parts.map { preset(of: input(named: $0)) }
        }
        open.isSecret = isSecret
        open.policies = failedPolicies
        return open
    }

    /// True if a person can answer this type of callback.
    private var isForPersons: Bool {
        switch kind {
        case .text: type != "ReCaptchaCallback"
        case .number, .truth, .choice, .provider, .question, nil: true
        case .profile, .language, .optional, .named, .redirect, .waiting, .suspended, .passive: false
        }
    }

    /// True if each input takes its own text.
    private var hasParts: Bool {
        switch kind {
        case .question, .language, .named, nil: !inputNames.isEmpty
        default: false
        }
    }

    private var form: OpenCallback.Form? {
        switch kind {
        case .choice: .choice
        case .provider: providers.isEmpty ? .text : .choice
        case .truth: .truth
        case .number: .number
        case .text, .profile, .question, .language, .optional, .named: .text
        case nil: preset(of: Self.mainInput(of: inputs).map { inputs[$0] })
        case .redirect, .waiting, .suspended, .passive: nil
        }
    }

    /// The form that fits AM's preset value.
    private func preset(of input: JSONValue?) -> OpenCallback.Form {
        switch input?["value"] {
        case .bool: .truth
        case .number: .number
        default: .text
        }
    }

    /// The text that the page shows by a callback without input, or the terms to accept.
    var message: String? {
        if type == "TermsAndConditionsCallback" { return output("terms")?.text }
        // message type 4 is a script for browsers, not a text for people
        guard type == "TextOutputCallback",
            output("messageType").flatMap({ $0.integer ?? $0.text.flatMap { Int($0) } }) != 4
        else { return nil }
        return output("message")?.text
    }

    private var isSecret: Bool {
        switch type {
        case "PasswordCallback": true
        case "ValidatedCreatePasswordCallback": output("echoOn") != .bool(true)
        default: false
        }
    }

    /// The callback filled in with a person's checked answer.
    func filled(_ open: OpenCallback, told texts: [String]) throws(StepUp.Failure) -> JSONValue {
        if !open.parts.isEmpty { return try setting(zip(open.parts, texts).map { NamedText($0, $1) }) }
        let text = texts.first ?? ""
        let value: JSONValue? =
            switch open.form {
            case .text: .string(text)
            case .number: OpenCallback.number(text)
            case .truth: OpenCallback.truth(text).map { .bool($0) }
            case .choice: open.choice(text).flatMap(chosen)
            }
        guard let value else { throw StepUp.Failure(.unanswered, "the person's answer to \(shown) is invalid") }
        return try setting(value)
    }

    private func chosen(_ number: Int) -> JSONValue? {
        guard kind == .provider else { return .integer(number) }
        let providers = providers
        return providers.indices.contains(number) ? .string(providers[number].name) : nil
    }
}
