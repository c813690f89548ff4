internal import Formats

/// The answers that one step-up has given to AM. A server that asks the same again has refused them, and more attempts may lock
/// the user's account.
struct GivenAnswers: Sendable {
    /// An answer as sent with a step.
    struct Answer: Sendable {
        var type: String
        var prompt: String
        /// The value as JSON. For a one-time password it is the secret, because the next code would be refused like the last.
        var value: String
        /// True if the answer was selected from AM's offers. It cannot be wrong by itself, and other pages may offer the same.
        var isChoice = false
        /// True if a person just gave the answer. A person may repeat an answer on purpose.
        var isPersons = false
        var isOneTime = false
        /// The policies that the last answer violated, according to AM.
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
    /// The same questions without their answers.
    private var places: Set<Question> = []
    /// The answers that were selected.
    private var choices: Set<Question> = []
    private var pages: Set<String> = []
    /// Passwords with the number of pages that carried each.
    private var passwords: [String: Int] = [:]

    /// A second page may confirm the password of the first. A third one means that the server refused it, whatever the prompt
    /// says.
    private static let mostOfOnePassword = 2

    /// Whether this question was answered before.
    func answered(_ type: String, _ prompt: String, stage: String) -> Bool {
        places.contains(Question(type: type, prompt: Self.uncounted(prompt), stage: stage, value: ""))
    }

    /// The answer that must not be given to AM again, even with a person's new answers; nil if there is none.
    func spent(_ answers: [Answer], stage: String) -> Answer? {
        answers.first { answer in
            if answer.isPassword, passwords[answer.value, default: 0] >= Self.mostOfOnePassword { return true }
            // AM itself reports that it refused this
            return answer.isChoice && !answer.failed.isEmpty && !answer.isPersons
                && choices.contains(Self.question(answer, stage))
        }
    }

    /// Adds the answers of a step. Returns the answer that AM has received before; nil if there is none, and then the answers are
    /// recorded.
    /// - Parameter page: the step's callbacks as they would go out.
    mutating func add(_ answers: [Answer], stage: String, page: String) -> Answer? {
        guard !answers.isEmpty else { return nil }
        if let spent = spent(answers, stage: stage) { return spent }
        let chosen = answers.filter(\.isChoice).map { Self.question($0, stage) }
        let others = answers.filter { !$0.isChoice }
        // a person's new answer is sent together with the others of the page
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

    /// The prompt without digits and spaces, because it may count the remaining attempts.
    private static func uncounted(_ prompt: String) -> String {
        String(decoding: prompt.utf8.filter { !ASCII.isDigit($0) && $0 != 0x20 }, as: UTF8.self)
    }
}
