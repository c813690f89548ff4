internal import Formats
internal import HTTPCodec
internal import Interception

/// The data to send back for a callback.
enum CallbackFilling {
    case asItCame
    case filled(JSONValue)
    /// The main input takes a one-time password, which is generated last.
    case code(OneTimePassword)
    /// The callback goes back unchanged, and the call gets these parameters.
    case redirect([NamedText])
}

extension Callback {
    /// The configured answer to a callback.
    enum Choice {
        case none
        case answer(Answer)
        /// The answer depends on the user, who is not known yet.
        case unknownUser
    }

    /// The first answer for this type with a matching prompt and scope.
    /// - Parameter number: the callback's position among those of its type on the page.
    func answer(from answers: [Answer], _ page: AnswerPage, number: Int) -> Choice {
        let place = AnswerScope.Place(name: name, number: number, page: page)
        for answer in answers
        where answer.callback == type && AnswerScope.fits(answer.prompt, prompt) && answer.scope.takes(place) {
            if answer.scope.users.isEmpty { return .answer(answer) }
            guard let names = page.userNames else { return .unknownUser }
            if answer.scope.takes(user: names) { return .answer(answer) }
        }
        return .none
    }

    /// The callback filled in with this answer.
    /// - Parameters:
    /// - taken: security questions that other callbacks of the page use.
    /// - fallsBack: true if the configuration answers a hidden value of this step, which tells the tree that there is no device.
    ///   Only then may a callback for the device go back unchanged.
    func fill(
        _ answer: Answer?, taken: inout Set<String>, fallsBack: Bool
    ) throws(StepUp.Failure) -> CallbackFilling {
        guard let answer, kind != .passive else {
            if goesBackUnanswered(fallsBack) { return .asItCame }
            throw refusal
        }
        switch answer.response {
        case .value(let text): return .filled(try setting(value: text))
        case .choose(let label): return .filled(try choosing(label))
        case .preset: return .filled(try setting(preset()))
        case .oneTime(let password): return .code(password)
        case .device(let profile):
            let text = profile.text(
                metadata: output("metadata") == .bool(true), location: output("location") == .bool(true))
            return .filled(try setting(.string(text)))
        case .security(let wanted, let text):
            let question = try self.question(wanted, &taken)
            return .filled(try setting([NamedText("question", question), NamedText("answer", text)]))
        case .inputs(let texts): return .filled(try setting(texts))
        case .redirect(let parameters): return .redirect(returning(with: parameters))
        case .leave: return .asItCame
        case .ask: throw StepUp.Failure(.unanswered, "a person would have to be asked for \(shown)")
        }
    }

    private func goesBackUnanswered(_ fallsBack: Bool) -> Bool {
        if device != nil, !fallsBack { return false }
        return switch kind {
        case .passive, .optional, .language, .named(_, isOptional: true): true
        default: false
        }
    }

    /// The answer that the filled callback gives to AM.
    func given(in filled: JSONValue, isChoice: Bool) -> GivenAnswers.Answer {
        let inputs = filled["input"]?.items ?? []
        let hasNames = !inputNames.isEmpty
        let told = hasNames ? filled["input"] : Self.mainInput(of: inputs).flatMap { inputs[$0]["value"] }
        return .init(
            type: type, prompt: prompt, value: told?.serialized ?? "", isChoice: isChoice,
            failed: failedPolicies)
    }

    /// True if the answer is selected from AM's offers. Such an answer cannot be wrong by itself.
    var isChoice: Bool {
        switch kind {
        case .choice, .truth, .optional, .provider, .language, .profile: true
        default: false
        }
    }

    // MARK: values

    private func setting(value text: String) throws(StepUp.Failure) -> JSONValue {
        switch kind {
        case .choice: return try setting(.integer(choice(text)))
        case .truth: return try setting(.bool(truth(text)))
        case .number: return try setting(number(text))
        case .provider: return try setting(.string(provider(text)))
        case .named(let main?, _): return try setting([NamedText(main, text)])
        case .language:
            let parts = text.split(maxSplits: 1) { $0 == "-" || $0 == "_" }.map { String($0) }
            let texts = zip(["Language", "Country"], parts).map { NamedText($0, $1) }
            return try setting(texts)
        default: return try setting(.string(text))
        }
    }

    private func choosing(_ label: String) throws(StepUp.Failure) -> JSONValue {
        switch kind {
        case .choice: return try setting(.integer(choice(label)))
        case .truth: return try setting(.bool(truth(label)))
        case .provider: return try setting(.string(provider(label)))
        default:
            throw StepUp.Failure(
                .unanswered, "the answer for \(shown) says choose, but there is nothing to choose from")
        }
    }

    /// The value that AM has preset.
    private func preset() throws(StepUp.Failure) -> JSONValue {
        let names = ["defaultText", "defaultChoice", "defaultOption", "value"]
        // a hidden value goes back with its input's value: its output is display text
        let preset = kind == .optional ? nil : names.lazy.compactMap { output($0) }.first
        guard let value = preset ?? Self.mainInput(of: inputs).flatMap({ inputs[$0]["value"] }), value != .null else {
            throw StepUp.Failure(.unanswered, "AM sets no default for \(shown)")
        }
        return value
    }

    /// The number of a label. A number from the list is accepted too.
    func choice(_ label: String) throws(StepUp.Failure) -> Int {
        let choices = choices
        let fits =
            choices.first { ASCII.equal($0.label, label) }
            ?? choices.first { Glob.matches(label, $0.label, ignoringCase: true) }
        if let fits { return fits.number }
        if let number = Int(label), choices.contains(where: { $0.number == number }) { return number }
        throw StepUp.Failure(.unanswered, "\(shown) offers no choice that fits the configured answer")
    }

    /// The provider with this name or label.
    private func provider(_ text: String) throws(StepUp.Failure) -> String {
        let providers = providers
        // without a list, AM validates the name
        if providers.isEmpty { return text }
        let fits =
            providers.first { $0.name == text }
            ?? providers.first {
                Glob.matches(text, $0.name, ignoringCase: true) || Glob.matches(text, $0.label, ignoringCase: true)
            }
        if let fits { return fits.name }
        let offered = providers.map { LogText.shown($0.name) }.prefix(8).joined(separator: ", ")
        throw StepUp.Failure(
            .unanswered, "SelectIdPCallback offers no provider that fits the configured answer; it offers \(offered)")
    }

    private func question(_ wanted: String?, _ taken: inout Set<String>) throws(StepUp.Failure) -> String {
        let offered = (output("predefinedQuestions")?.items ?? []).compactMap(\.text)
        let free = offered.filter { !taken.contains($0) }
        var question = free.first
        if let wanted {
            question =
                free.first { $0 == wanted } ?? free.first { Glob.matches(wanted, $0, ignoringCase: true) }
            // the user's own question, unless AM forbids it
            if question == nil, !Glob.isGlob(wanted), output("allowUserDefinedQuestions") != .bool(false) {
                question = wanted
            }
        }
        guard let question else {
            throw StepUp.Failure(.unanswered, "\(shown) offers no question that fits the configured answer")
        }
        taken.insert(question)
        return question
    }

    /// The parameters that a browser would return with. A `state` in the redirect URL is returned unchanged.
    private func returning(with parameters: [NamedText]) -> [NamedText] {
        guard !parameters.contains(where: { $0.name == "state" }), let url = output("redirectUrl")?.text,
            let mark = url.utf8.firstIndex(of: 0x3F)
        else { return parameters }
        let query = QueryText(url[url.utf8.index(after: mark)...].prefix { $0 != "#" })
        return parameters + (query["state"].map { [NamedText("state", $0)] } ?? [])
    }
}
