/// Something happens elsewhere: it is over when the client has asked so often.
struct WaitPage: TreeNode {
    let milliseconds: Int
    let times: Int

    func page(_: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> [Question] {
        [.wait(milliseconds, "Waiting for your approval")]
    }

    func take(_: Answers, _ flow: inout AuthenticationFlow, _: inout SandboxServer, _: Int) -> NodeOutcome {
        let polls = 1 + (flow.state["polls"].flatMap { Int($0) } ?? 0)
        flow.state["polls"] = String(polls)
        return polls < times ? .again("not approved yet") : .next
    }
}
