internal import Formats

/// A step of a tree with its callbacks answered (docs/protocol.md#callbacks). Unanswered callbacks go back unchanged, because AM
/// counts them.
struct CallbackStep: Sendable {
    var step: JSONValue
    /// Parameters of the call that returns the step.
    var query: [NamedText] = []
    /// The types and their treatment, without prompts and answers.
    var description: String
    /// The answers for AM.
    var given: [GivenAnswers.Answer] = []
    /// One-time passwords that are still to be generated, in page order.
    var codes: [Code] = []

    struct Code: Sendable {
        /// The index of the callback.
        var index: Int
        var password: OneTimePassword
        /// The type and prompt.
        var shown: String
    }

    /// The result of filling a step.
    enum Filling {
        case ready(CallbackStep)
        /// Send the step back unchanged after this many milliseconds.
        case wait(milliseconds: Int)
        /// Ask a person first.
        /// - Parameter given: the configured answers of the same step.
        case open([OpenCallback], given: [GivenAnswers.Answer])
        /// The tree continues through a link; the message is AM's.
        case suspended(message: String)
        /// The matching answers depend on the user.
        case unknownUser
    }

    /// The sources of answers.
    struct Means {
        var answers: [AuthorizationPolicy.CallbackAnswer]
        /// A person's answers.
        var told = PersonAnswers()
        /// True if a person is asked where nothing else answers.
        var asks = false
        /// The time for which this page has been polled, in milliseconds.
        var waited = 0
    }

    /// Limit of callbacks on one page.
    static let maxCallbacks = 256

    /// Fills in the inputs of a step.
    /// - Throws: a failure that names the callback which ends the step-up.
    static func fill(
        _ step: JSONValue, _ page: AnswerPage, _ means: Means
    ) throws(StepUp.Failure) -> Filling {
        guard let items = step["callbacks"]?.items else {
            throw StepUp.Failure(.unsupportedCallback, "AM's step has no list of callbacks")
        }
        guard items.count <= maxCallbacks else {
            throw StepUp.Failure(
                .tooLarge, "AM's step has \(items.count) callbacks, more than the \(maxCallbacks) allowed")
        }
        let callbacks = items.map(Callback.init)
        if let suspended = callbacks.first(where: { $0.kind == .suspended }) {
            return .suspended(message: suspended.prompt)
        }
        guard let chosen = choose(callbacks, page, means) else { return .unknownUser }
        if let index = callbacks.firstIndex(where: { $0.kind == .waiting }) {
            // a poll must not press a button at the same time, so the other inputs stay unchanged
            guard case .leave(let label, let after)? = chosen[index]?.response, means.waited >= after else {
                return .wait(milliseconds: callbacks[index].waitTime)
            }
            return .ready(try leave(step, callbacks, label: label))
        }
        return try answer(step, callbacks, chosen, means)
    }

    /// The configured answer to each callback; nil if it depends on a user who is not known yet.
    private static func choose(
        _ callbacks: [Callback], _ page: AnswerPage, _ means: Means
    ) -> [Callback.Answer?]? {
        var numbers: [String: Int] = [:]
        var chosen: [Callback.Answer?] = []
        for callback in callbacks {
            numbers[callback.type, default: 0] += 1
            switch callback.answer(from: means.answers, page, number: numbers[callback.type] ?? 1) {
            case .none: chosen.append(nil)
            case .answer(let answer): chosen.append(answer)
            case .unknownUser: return nil
            }
        }
        return chosen
    }

    private static func answer(
        _ step: JSONValue, _ callbacks: [Callback], _ chosen: [Callback.Answer?], _ means: Means
    ) throws(StepUp.Failure) -> Filling {
        var filled = CallbackStep(step: step, description: "")
        var results: [JSONValue] = []
        var answered: [String] = []
        var returned: [String] = []
        var open: [OpenCallback] = []
        var taken: Set<String> = []
        let fallsBack = zip(callbacks, chosen).contains { $0.type == "HiddenValueCallback" && $1 != nil }
        for (index, callback) in callbacks.enumerated() {
            results.append(callback.json)
            if let asked = callback.open(index, chosen[index], asks: means.asks, fallsBack: fallsBack) {
                guard let texts = means.told.callbacks[index] else {
                    open.append(asked)
                    continue
                }
                results[index] = try callback.filled(asked, told: texts)
                answered.append("\(callback.shownType) (by a person)")
                var answer = callback.given(in: results[index], isChoice: callback.isChoice)
                answer.isPersons = true
                filled.given.append(answer)
                continue
            }
            switch try callback.fill(chosen[index], taken: &taken, fallsBack: fallsBack) {
            case .asItCame:
                returned.append(callback.shownType)
                continue
            case .filled(let result):
                results[index] = result
                filled.given.append(callback.given(in: result, isChoice: callback.isChoice))
            case .code(let password):
                filled.codes.append(Code(index: index, password: password, shown: callback.shown))
                // the secret stands for every code: if AM asks again, it did not accept it
                filled.given.append(
                    .init(type: callback.type, prompt: callback.prompt, value: password.part, isOneTime: true))
            case .redirect(let parameters):
                filled.query += parameters
                filled.given.append(
                    .init(type: callback.type, prompt: callback.prompt, value: "\(parameters)"))
            }
            answered.append(callback.shownType)
        }
        guard open.isEmpty else { return .open(open, given: filled.given) }
        filled.step["callbacks"] = .array(results)
        filled.describe(answered, returned)
        return .ready(filled)
    }

    /// Leaves a waiting page by one of its buttons.
    private static func leave(
        _ step: JSONValue, _ callbacks: [Callback], label: String
    ) throws(StepUp.Failure) -> CallbackStep {
        guard let index = callbacks.firstIndex(where: { $0.kind == .choice }) else {
            throw StepUp.Failure(.unanswered, "the page that waits has no button to leave it by")
        }
        var results = callbacks.map(\.json)
        results[index] = try callbacks[index].setting(.integer(callbacks[index].choice(label)))
        var filled = CallbackStep(step: step, description: "")
        filled.given = [callbacks[index].given(in: results[index], isChoice: true)]
        filled.step["callbacks"] = .array(results)
        filled.describe([callbacks[index].shownType], ["PollingWaitCallback"])
        return filled
    }

    private mutating func describe(_ answered: [String], _ returned: [String]) {
        var parts: [String] = []
        if !answered.isEmpty { parts.append(answered.joined(separator: ", ") + " answered") }
        if !returned.isEmpty { parts.append(returned.joined(separator: ", ") + " sent back") }
        description = parts.isEmpty ? "no callbacks" : parts.joined(separator: "; ")
    }

    // MARK: one-time passwords

    /// Fills in the next one-time password.
    mutating func put(_ code: String) throws(StepUp.Failure) {
        guard let next = codes.first, var items = step["callbacks"]?.items, items.indices.contains(next.index) else {
            return
        }
        codes.removeFirst()
        items[next.index] = try Callback(items[next.index]).setting(.string(code))
        step["callbacks"] = .array(items)
    }
}
