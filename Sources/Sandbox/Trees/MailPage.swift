/// The journey is put aside: a link that is mailed goes on with it. The sandbox's log is the mailbox.
struct MailPage: TreeNode {
    func page(_ flow: inout AuthenticationFlow, _ server: inout SandboxServer, _ now: Int) -> [Question] {
        server.mailLink(for: flow, now)
        return [.mailed]
    }

    func take(_: Answers, _: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> NodeOutcome {
        .again("the link has not been followed")
    }
}

/// What was mailed: the log's line is the mail.
struct Mail: Sendable {
    var user: String
    /// What the link carries.
    var query: String
}
