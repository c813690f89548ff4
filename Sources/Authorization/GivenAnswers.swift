internal import Formats
internal import Interception

/// What one step-up has told AM so far. A server that asks for the same again did not take it, and each more time
/// brings the user's account nearer to its lock.
struct GivenAnswers: Sendable {
    /// An answer as it goes out with a step.
    struct Answer: Sendable {
        var type: String
        var prompt: String
        /// As JSON; what a one-time password is made of, for the next one is as good or bad as the last.
        var value: String
        /// It was chosen from what AM offers, and tells AM nothing that could be wrong by itself: other pages may offer
        /// the same.
        var isChoice = false
        /// A person gave it just now, and may have had a reason to say it once more.
        var isPersons = false
        var isOneTime = false
        /// What AM says that the last answer did not keep to.
        var failed: [String] = []

        var isPassword: Bool {
            isOneTime || type == "PasswordCallback" || type == "ValidatedCreatePasswordCallback"
        }
    }

    private struct Question: Hashable {
        var type: String
        var prompt: String
        var stage: String
        var value: String
    }

    private var questions: Set<Question> = []
    /// What was chosen.
    private var choices: Set<Question> = []
    private var pages: Set<String> = []
    /// Passwords, and with how many pages each went out.
    private var passwords: [String: Int] = [:]

    /// A second page may set or confirm what the first one asked for; a third is a server that did not take it, in words
    /// that no prompt can be told by.
    private static let mostOfOnePassword = 2

    /// The answer that AM has been given before, of those that would go out now; nil where there is none, and then
    /// they count as given.
    /// - Parameter page: the step's callbacks as they would go out.
    mutating func add(_ answers: [Answer], stage: String, page: String) -> Answer? {
        guard !answers.isEmpty else { return nil }
        func question(_ answer: Answer) -> Question {
            Question(type: answer.type, prompt: Self.uncounted(answer.prompt), stage: stage, value: answer.value)
        }
        // what a person says anew goes out with what stands beside it
        let isAnotherTry = answers.contains { $0.isPersons && !questions.contains(question($0)) }
        var asked: [Question] = []
        var chosen: [Question] = []
        for answer in answers {
            let one = question(answer)
            if answer.isChoice {
                // AM says itself that it does not take this
                if !answer.failed.isEmpty, !answer.isPersons, choices.contains(one) { return answer }
                chosen.append(one)
            } else {
                if !isAnotherTry, questions.contains(one) { return answer }
                asked.append(one)
            }
        }
        for answer in answers where answer.isPassword && passwords[answer.value, default: 0] >= Self.mostOfOnePassword {
            return answer
        }
        guard pages.insert("\(stage)\n\(page)").inserted else { return answers.first }
        for value in Set(answers.filter(\.isPassword).map(\.value)) { passwords[value, default: 0] += 1 }
        questions.formUnion(asked)
        choices.formUnion(chosen)
        return nil
    }

    /// A prompt may count the tries that are left: without its numbers it is the same prompt.
    private static func uncounted(_ prompt: String) -> String {
        String(decoding: prompt.utf8.filter { !ASCII.isDigit($0) && $0 != 0x20 }, as: UTF8.self)
    }
}
