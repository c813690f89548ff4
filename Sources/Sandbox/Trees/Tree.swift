/// A journey: nodes, passed in order. `Trees` has all of them.
struct Tree: Sendable {
    let name: String
    /// What a person reads above the questions.
    let header: String
    /// The authentication level of a session that has passed it.
    var level = 0
    /// How often wrong answers are asked for once more. Then it has failed.
    var retries = 0
    let nodes: [any TreeNode]
}

extension SandboxOptions.Strategy {
    /// What a transaction asks. Not startable by name.
    var tree: Tree {
        let name = "TransactionAuthorization"
        let header = "Approve this access"
        return switch self {
        case .nameAndPassword:
            Tree(name: name, header: header, retries: 1, nodes: [QuestionPage(.name, .password)])
        case .password: Tree(name: name, header: header, retries: 1, nodes: [QuestionPage(.password)])
        case .choice: Tree(name: name, header: header, nodes: [QuestionPage(.approval)])
        case .tree(let name): Trees.named(name) ?? SandboxOptions.Strategy.nameAndPassword.tree
        }
    }
}

extension Tree {
    /// Its first page asks for both, so that they may come along with the start.
    var asksNameAndPassword: Bool {
        (nodes.first as? QuestionPage)?.questions == [.name, .password]
    }
}
