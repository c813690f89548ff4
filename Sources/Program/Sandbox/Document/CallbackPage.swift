internal import Declaration
internal import Formats
internal import Interception

/// A page of a document: callbacks, what their answers have to be, and where it goes on.
struct CallbackPage: TreeNode {
    /// What follows when no more wrong answers may be given.
    enum Failure: String, CaseIterable { case fail, again, lock }

    enum Input: String, CaseIterable { case none, text, number, boolean }

    enum Check: Sendable {
        case user, password, totp
        case answer([TextMatcher])

        static let words = ["user", "password", "totp"]

        init?(word: String) {
            switch word {
            case "user": self = .user
            case "password": self = .password
            case "totp": self = .totp
            default: return nil
            }
        }
    }

    struct Item: Sendable {
        let question: Question
        /// The texts of the choices.
        let choices: [String]
        /// Nil if every answer is right.
        var check: Check?
        /// The page after a choice.
        var goto: [String: Int] = [:]
    }

    let items: [Item]
    let failure: Failure
    /// How often wrong answers may be given.
    let tries: Int
    /// How often a page with a poll comes.
    let polls: Int

    func page(_: inout Journey, _: inout IdentityStore, _: inout TokenSource, _: Int) -> [Question] {
        items.map(\.question)
    }

    func take(
        _ answers: Answers, _ journey: inout Journey, _ identities: inout IdentityStore, _ now: Int
    ) -> NodeOutcome {
        if items.contains(where: { $0.question.isPoll }), journey.count("polls") < polls {
            return .again("not done yet")
        }
        for (index, item) in items.enumerated() {
            let text = answers.written(index, item.choices)
            guard item.isRight(text, &journey, &identities, now) else { return wrong(item, &journey) }
            if let place = item.goto[text] { journey.successor = place }
        }
        return .next
    }

    private func wrong(_ item: Item, _ journey: inout Journey) -> NodeOutcome {
        let words = "a wrong answer to \(item.question.type)"
        if journey.count("tries") < tries { return .again(words) }
        return failure == .lock ? .locked(words) : .failed(words)
    }
}

extension CallbackPage.Item {
    fileprivate func isRight(
        _ text: String, _ journey: inout Journey, _ identities: inout IdentityStore, _ now: Int
    ) -> Bool {
        switch check {
        case nil: return true
        case .user:
            journey.name = text
            // whether there is such a user shows at the end
            return true
        case .password:
            return journey.claimed.map { identities.directory.accepts($0, text, realm: journey.realm) } ?? false
        case .totp:
            guard let user = journey.claimed, let owner = journey.owner,
                let key = identities.directory.secret(of: user, realm: journey.realm),
                let counter = OneTimePassword.counter(text, key, now: now)
            else { return false }
            return identities.devices.isFirst(counter, of: owner)
        case .answer(let matchers): return matchers.contains { $0.accepts(text) }
        }
    }
}

extension Answers {
    /// The first input of a question as text: the choice for an index.
    fileprivate func written(_ question: Int, _ choices: [String]) -> String {
        switch value(question) {
        case .number(let digits) where !choices.isEmpty:
            Int(digits).flatMap { choices.indices.contains($0) ? choices[$0] : nil } ?? ""
        case .number(let digits): digits
        case .bool(let flag): String(flag)
        case let value: value.text ?? ""
        }
    }
}

extension Question {
    var isPoll: Bool { type == "PollingWaitCallback" }
}

// MARK: reading

extension CallbackPage {
    /// The inputs of the types that have others than a text.
    private static let inputs: [String: [Question.Input]] = [
        "BooleanAttributeInputCallback": [.flag, .validateOnly],
        "NumberAttributeInputCallback": [.number, .validateOnly],
        "StringAttributeInputCallback": [.text, .validateOnly],
        "ValidatedCreatePasswordCallback": [.text, .validateOnly],
        "ValidatedCreateUsernameCallback": [.text, .validateOnly],
        "ConsentMappingCallback": [.flag],
        "TermsAndConditionsCallback": [.flag],
    ]

    /// The callback of this type, with the outputs that AM gives it.
    static func question(_ type: String, _ fields: Fields, _ findings: Findings) -> Question? {
        let prompt = fields.text("prompt") ?? ""
        let choices = fields.list("choices").compactMap(\.text)
        let selected = fields.number("default") ?? 0
        let takesChoices = type == "ChoiceCallback" || type == "ConfirmationCallback"
        if takesChoices, choices.isEmpty {
            findings.error(fields.position, "\(type) takes choices, such as choices: [Yes, No]")
            return nil
        }
        if !takesChoices, let position = fields.position(of: "choices") {
            findings.error(position, "\(type) takes no choices; use ChoiceCallback or ConfirmationCallback")
        }
        if takesChoices, !choices.indices.contains(selected), let position = fields.position(of: "default") {
            findings.error(position, "default takes the index of a choice, 0 to \(choices.count - 1)")
        }
        var question: Question
        switch type {
        case "ChoiceCallback": question = .choice(prompt, choices, usual: selected)
        case "ConfirmationCallback":
            question = .confirmation(choices, prompt: prompt, usual: selected)
        case "TextOutputCallback": question = .message(fields.text("message") ?? "")
        case "PollingWaitCallback": question = .wait(fields.number("wait") ?? 1000, fields.text("message") ?? "")
        default:
            question = Question(type, [:], inputs: inputs[type] ?? [.text])
            for key in ["prompt", "message"] {
                if let text = fields.text(key) { question.output.append(.init(key, .string(text))) }
            }
        }
        for field in fields.fields("output")?.all ?? [] {
            question.output.removeAll { $0.name == field.name }
            question.output.append(.init(field.name, field.value.json ?? .null))
        }
        guard let input = fields["input"], let kind = input.text.flatMap(Input.init) else { return question }
        if takesChoices { findings.error(input.position, "\(type) takes the index of a choice; remove input") }
        question.inputs =
            switch kind {
            case .none: []
            case .text: [.text]
            case .number: [.number]
            case .boolean: [.flag]
            }
        return question
    }
}
