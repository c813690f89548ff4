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
    /// The node after a node, where it is not the next one. A number behind the last node is the end.
    var next: [Int: Int] = [:]
    /// The pages check all answers, so that a user without a password is accepted at the end.
    var checksItself = false

    /// The nodes that a document may use, by name.
    static let pages: KeyValuePairs<String, any TreeNode> = [
        "name_and_password": QuestionPage(.name, .password), "totp": CodePage(), "approval": QuestionPage(.approval),
        "mail": CheckedPage.mail, "agreement": CheckedPage.agreement, "knowledge": CheckedPage.knowledge,
        "mail_address": MailAddressPage(), "new_password": NewPasswordPage(), "device_profile": CheckedPage.device,
        "provider": CheckedPage.provider, "redirect": CheckedPage.redirect,
        "register_totp": CodeRegistrationPage(), "register_hotp": CodeRegistrationPage(isTimed: false),
        "device_code": DeviceCodePage(), "register_push": PushRegistrationPage(), "push": PushPage(),
        "push_number": PushPage(asksNumber: true),
    ]
}

extension SandboxOptions.Strategy {
    /// The tree of a transaction. It cannot be started by name.
    func tree(_ directory: Directory) -> Tree {
        let name = "TransactionAuthorization"
        let header = "Approve this access"
        return switch self {
        case .nameAndPassword:
            Tree(name: name, header: header, retries: 1, nodes: [QuestionPage(.name, .password)])
        case .password: Tree(name: name, header: header, retries: 1, nodes: [QuestionPage(.password)])
        case .choice: Tree(name: name, header: header, nodes: [QuestionPage(.approval)])
        case .tree(let name): directory.tree(named: name) ?? Self.nameAndPassword.tree(directory)
        }
    }
}

extension Tree {
    /// True if the first page asks for name and password, so that the start may carry them.
    var asksNameAndPassword: Bool {
        (nodes.first as? QuestionPage)?.questions == [.name, .password]
    }
}
