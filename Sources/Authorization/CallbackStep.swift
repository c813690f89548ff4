internal import Formats
internal import Interception

/// A step of a tree with its callbacks answered (docs/protocol.md#callbacks). Everything that is not answered goes back as it
/// came: AM counts the callbacks.
struct CallbackStep {
    var step: JSONValue
    /// Milliseconds to wait before it is sent; nil where it is sent at once.
    var wait: Int?
    /// Types and what was done with them, without prompts and answers.
    var description: String
    /// What is told to AM.
    var given: [GivenAnswers.Answer] = []
    /// What a person has to be asked first. Nothing is to be sent until then.
    var open: [OpenCallback] = []

    /// Fills the inputs of a step.
    /// - Parameters:
    ///   - told: what a person said.
    ///   - asks: a person is asked where nothing else answers.
    /// - Throws: a failure that names the callback which ends the step-up.
    static func fill(
        _ step: JSONValue, answers: [AuthorizationPolicy.CallbackAnswer], told: PersonAnswers = PersonAnswers(),
        asks: Bool = false
    ) throws(StepUp.Failure) -> CallbackStep {
        guard let items = step["callbacks"]?.items else {
            throw StepUp.Failure(.unsupportedCallback, "AM's step has no list of callbacks")
        }
        let callbacks = items.map(Callback.init)
        // whoever waits must not press a button at the same time: the step's other inputs stay as they are
        if let waiting = callbacks.first(where: { $0.type == "PollingWaitCallback" }) {
            let wait = waiting.waitTime
            return CallbackStep(step: step, wait: wait, description: "PollingWaitCallback, asking again in \(wait) ms")
        }
        var filled = step
        var results: [JSONValue] = []
        var answered: [String] = []
        var returned: [String] = []
        var given: [GivenAnswers.Answer] = []
        let fallsBack = callbacks.contains { $0.type == "HiddenValueCallback" && $0.answer(from: answers) != nil }
        var open: [OpenCallback] = []
        for (index, callback) in callbacks.enumerated() {
            if let asked = callback.open(index, answers: answers, asks: asks, fallsBack: fallsBack) {
                guard let texts = told.callbacks[index] else {
                    open.append(asked)
                    continue
                }
                let result = try callback.filled(asked, told: texts)
                results.append(result)
                answered.append("\(callback.shownType) (by a person)")
                var answer = callback.given(in: result)
                answer.isPersons = true
                given.append(answer)
            } else if let result = try callback.fill(from: answers, fallsBack: fallsBack) {
                results.append(result)
                answered.append(callback.shownType)
                given.append(callback.given(in: result))
            } else {
                results.append(callback.json)
                returned.append(callback.shownType)
            }
        }
        guard open.isEmpty else { return CallbackStep(step: step, description: "", open: open) }
        filled["callbacks"] = .array(results)
        var parts: [String] = []
        if !answered.isEmpty { parts.append(answered.joined(separator: ", ") + " answered") }
        if !returned.isEmpty { parts.append(returned.joined(separator: ", ") + " sent back") }
        return CallbackStep(
            step: filled, wait: nil, description: parts.isEmpty ? "no callbacks" : parts.joined(separator: "; "),
            given: given)
    }
}
