/// One node of a tree: it asks, and says what the answers come to. What it has to remember stands in the flow's `state`
/// or in the server; the node itself is data.
protocol TreeNode: Sendable {
    /// There is nothing to ask: the next node is asked for. Not of the last one.
    func isPassed(_ flow: AuthenticationFlow, _ server: SandboxServer) -> Bool

    /// The page to show now.
    func page(_ flow: inout AuthenticationFlow, _ server: inout SandboxServer, _ now: Int) -> [Question]

    /// What the answers to the page that was shown last come to.
    func take(
        _ answers: Answers, _ flow: inout AuthenticationFlow, _ server: inout SandboxServer, _ now: Int
    ) -> NodeOutcome
}

extension TreeNode {
    func isPassed(_: AuthenticationFlow, _: SandboxServer) -> Bool { false }
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

    func page(_: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> [Question] { questions }

    func take(_ answers: Answers, _ flow: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> NodeOutcome {
        for (index, question) in questions.enumerated() {
            switch question {
            case .name: flow.name = answers.text(index)
            case .password: flow.password = answers.text(index)
            case .approval where answers.index(index) != 0: return .failed("not approved")
            default: break
            }
        }
        return .next
    }
}
