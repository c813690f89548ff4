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
    /// The same without what was answered.
    private var places: Set<Question> = []
    /// What was chosen.
    private var choices: Set<Question> = []
    private var pages: Set<String> = []
    /// Passwords, and with how many pages each went out.
    private var passwords: [String: Int] = [:]

    /// A second page may set or confirm what the first one asked for; a third is a server that did not take it, in words
    /// that no prompt can be told by.
    private static let mostOfOnePassword = 2

    /// Whether this was asked before, and answered.
    func answered(_ type: String, _ prompt: String, stage: String) -> Bool {
        places.contains(Question(type: type, prompt: Self.uncounted(prompt), stage: stage, value: ""))
    }

    /// The answer that AM would not be given again, whatever a person says beside it; nil where there is none.
    func spent(_ answers: [Answer], stage: String) -> Answer? {
        answers.first { answer in
            if answer.isPassword, passwords[answer.value, default: 0] >= Self.mostOfOnePassword { return true }
            // AM says itself that it does not take this
            return answer.isChoice && !answer.failed.isEmpty && !answer.isPersons
                && choices.contains(Self.question(answer, stage))
        }
    }

    /// The answer that AM has been given before, of those that would go out now; nil where there is none, and then
    /// they count as given.
    /// - Parameter page: the step's callbacks as they would go out.
    mutating func add(_ answers: [Answer], stage: String, page: String) -> Answer? {
        guard !answers.isEmpty else { return nil }
        if let spent = spent(answers, stage: stage) { return spent }
        let chosen = answers.filter(\.isChoice).map { Self.question($0, stage) }
        let others = answers.filter { !$0.isChoice }
        // what a person says anew goes out with what stands beside it
        let isAnotherTry = answers.contains { $0.isPersons && !questions.contains(Self.question($0, stage)) }
        if !isAnotherTry, let again = others.first(where: { questions.contains(Self.question($0, stage)) }) {
            return again
        }
        guard pages.insert("\(stage)\n\(page)").inserted else { return answers.first }
        for value in Set(answers.filter(\.isPassword).map(\.value)) { passwords[value, default: 0] += 1 }
        for answer in others {
            var question = Self.question(answer, stage)
            questions.insert(question)
            question.value = ""
            places.insert(question)
        }
        choices.formUnion(chosen)
        return nil
    }

    private static func question(_ answer: Answer, _ stage: String) -> Question {
        Question(type: answer.type, prompt: uncounted(answer.prompt), stage: stage, value: answer.value)
    }

    /// A prompt may count the tries that are left: without its numbers it is the same prompt.
    private static func uncounted(_ prompt: String) -> String {
        String(decoding: prompt.utf8.filter { !ASCII.isDigit($0) && $0 != 0x20 }, as: UTF8.self)
    }
}
