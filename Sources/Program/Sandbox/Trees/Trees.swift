/// The trees that can be started by name, required by policies, or used for a transaction.
public enum Trees {
    /// Name and password on one page; the default.
    static let login = Tree(name: "Login", header: "Sign in", nodes: [QuestionPage(.name, .password)])
    /// Name, then password on a second page: a journey with two steps.
    static let stepUp = Tree(
        name: "StepUp", header: "Sign in again", level: 5, nodes: [QuestionPage(.name), QuestionPage(.password)])

    static let all: [Tree] = [
        login, stepUp,
        Tree(
            name: "Totp", header: "Sign in with a code", level: 10,
            nodes: [QuestionPage(.name, .password), CodePage()]),
        Tree(name: "Code", header: "A code is all", level: 10, nodes: [CodePage()]),
        Tree(name: "Choice", header: "Approve this access", nodes: [QuestionPage(.approval)]),
        Tree(
            name: "Poll", header: "Look at your phone",
            nodes: [QuestionPage(.name, .password), WaitPage(milliseconds: 200, times: 3)]),
        Tree(name: "Mail", header: "Look at your mail", nodes: [QuestionPage(.name, .password), CheckedPage.mail]),
        Tree(
            name: "Profile", header: "Tell more about yourself",
            nodes: [
                QuestionPage(.name, .password), CheckedPage.agreement, CheckedPage.knowledge, MailAddressPage(),
                NewPasswordPage(),
            ]),
        Tree(
            name: "Device", header: "Show your device", nodes: [QuestionPage(.name, .password), CheckedPage.device]),
        Tree(
            name: "OathDevice", header: "A code of your device", level: 10,
            nodes: [CodeRegistrationPage(), DeviceCodePage()]),
        Tree(
            name: "OathCounter", header: "A code of your device", level: 10,
            nodes: [CodeRegistrationPage(isTimed: false), DeviceCodePage()]),
        Tree(
            name: "PushDevice", header: "Look at your device", level: 10,
            nodes: [PushRegistrationPage(), PushPage()]),
        Tree(
            name: "PushNumber", header: "Look at your device", level: 10,
            nodes: [PushRegistrationPage(), PushPage(asksNumber: true)]),
        Tree(
            name: "OathLogin", header: "Sign in with a device", level: 10,
            nodes: [QuestionPage(.name, .password), CodeRegistrationPage(isTimed: false), DeviceCodePage()]),
        Tree(
            name: "PushLogin", header: "Sign in with a device", level: 10,
            nodes: [QuestionPage(.name, .password), PushRegistrationPage(), PushPage(asksNumber: true)]),
        Tree(
            name: "Social", header: "Sign in elsewhere", nodes: [CheckedPage.provider, QuestionPage(.name, .password)]),
        Tree(name: "Redirect", header: "Sign in elsewhere", nodes: [CheckedPage.redirect]),
    ]

    public static var names: [String] { all.map(\.name) }
}
