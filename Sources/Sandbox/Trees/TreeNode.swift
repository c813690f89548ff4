/// One node of a tree: it asks, and says what the answers come to. What it has to remember stands in the
/// journey's `state` or in the identity store; the node itself is data.
protocol TreeNode: Sendable {
    /// There is nothing to ask: the next node is asked for. Not of the last one.
    func isPassed(_ journey: Journey, _ identities: IdentityStore) -> Bool

    /// The page to show now.
    func page(
        _ journey: inout Journey, _ identities: inout IdentityStore, _ ids: inout TokenSource, _ now: Int
    ) -> [Question]

    /// What the answers to the page that was shown last come to.
    func take(
        _ answers: Answers, _ journey: inout Journey, _ identities: inout IdentityStore, _ now: Int
    ) -> NodeOutcome
}

extension TreeNode {
    func isPassed(_: Journey, _: IdentityStore) -> Bool { false }
}

enum NodeOutcome: Sendable {
    /// On to the next node, or to the end.
    case next
    /// This node once more, with a few words for the log.
    case again(String)
    /// The journey has failed.
    case failed(String)
}

/// A page whose answers say who somebody is, or what they want. Whether that is so is looked at in the end.
struct QuestionPage: TreeNode {
    let questions: [Question]

    init(_ questions: Question...) { self.questions = questions }

    func page(_: inout Journey, _: inout IdentityStore, _: inout TokenSource, _: Int) -> [Question] { questions }

    func take(_ answers: Answers, _ journey: inout Journey, _: inout IdentityStore, _: Int) -> NodeOutcome {
        for (index, question) in questions.enumerated() {
            switch question {
            case .name: journey.name = answers.text(index)
            case .password: journey.password = answers.text(index)
            case .approval where answers.index(index) != 0: return .failed("not approved")
            default: break
            }
        }
        return .next
    }
}

/// A page whose answers are judged by themselves.
struct CheckedPage: TreeNode {
    private let questions: [Question]
    private let outcome: @Sendable (Answers) -> NodeOutcome

    init(_ questions: Question..., outcome: @escaping @Sendable (Answers) -> NodeOutcome) {
        self.questions = questions
        self.outcome = outcome
    }

    func page(_: inout Journey, _: inout IdentityStore, _: inout TokenSource, _: Int) -> [Question] { questions }

    func take(_ answers: Answers, _: inout Journey, _: inout IdentityStore, _: Int) -> NodeOutcome { outcome(answers) }
}
