/// One node of a tree: it asks and evaluates the answers. Nodes have no state of their own; it is in the journey's `state` or in
/// the identity store.
protocol TreeNode: Sendable {
    /// True if the node has nothing to ask and is skipped. Ignored for the last node.
    func isPassed(_ journey: Journey, _ identities: IdentityStore) -> Bool

    /// The current page.
    func page(
        _ journey: inout Journey, _ identities: inout IdentityStore, _ ids: inout TokenSource, _ now: Int
    ) -> [Question]

    /// The result of the answers to the last page.
    func take(
        _ answers: Answers, _ journey: inout Journey, _ identities: inout IdentityStore, _ now: Int
    ) -> NodeOutcome
}

extension TreeNode {
    func isPassed(_: Journey, _: IdentityStore) -> Bool { false }
}

enum NodeOutcome: Sendable {
    /// Continue with the next node or the end.
    case next
    /// Show this node again; the text is for the log.
    case again(String)
    /// Fail the journey.
    case failed(String)
    /// The same, and lock the user out.
    case locked(String)
}

/// A page that asks for name, password or approval. The credentials are checked at the end.
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

/// A page that checks its own answers.
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
