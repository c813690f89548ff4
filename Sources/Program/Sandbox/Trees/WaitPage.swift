/// Waits for an event that occurs after a number of polls.
struct WaitPage: TreeNode {
    let milliseconds: Int
    let times: Int

    func page(_: inout Journey, _: inout IdentityStore, _: inout TokenSource, _: Int) -> [Question] {
        [.wait(milliseconds, "Waiting for your approval")]
    }

    func take(_: Answers, _ journey: inout Journey, _: inout IdentityStore, _: Int) -> NodeOutcome {
        journey.count("polls") < times ? .again("not approved yet") : .next
    }
}
