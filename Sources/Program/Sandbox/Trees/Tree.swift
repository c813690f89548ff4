/// An authentication tree: nodes that are passed in order. `Trees` lists all of them.
struct Tree: Sendable {
    let name: String
    /// The page header.
    let header: String
    /// The authentication level of a session that has passed it.
    var level = 0
    /// How often wrong answers may be repeated before the tree fails.
    var retries = 0
    let nodes: [any TreeNode]
}

extension SandboxOptions.Strategy {
    /// The tree of a transaction. It cannot be started by name.
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
    /// True if the first page asks for name and password, so that the start may carry them.
    var asksNameAndPassword: Bool {
        (nodes.first as? QuestionPage)?.questions == [.name, .password]
    }
}
