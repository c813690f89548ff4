import Authorization
import Formats
import HTTPCodec
import Interception
import Testing

/// Which callbacks an answer is for.
@Suite("Answers and their callbacks")
struct AnswerScopeTests {
    typealias Answer = AuthorizationPolicy.CallbackAnswer

    private func answer(_ value: String, _ scope: AnswerScope, prompt: String? = nil) -> Answer {
        Answer(callback: "PasswordCallback", prompt: prompt, scope: scope, response: .value(value))
    }

    private func machine(_ answers: [Answer], _ advice: Advice = StepUpTests.transaction) -> StepUp {
        var policy = policy()
        policy.answers = answers + [answer("other", AnswerScope())]
        var machine = StepUp(policy: policy, advice: advice, session: "SESSION-A")
        _ = machine.begin()
        return machine
    }

    private func page(stage: String = "", passwords: Int = 1, name: String = "", more: String = "") -> String {
        let callbacks = (1...passwords).map { number in
            "{\"type\":\"PasswordCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"\(number)\"},"
                + "{\"name\":\"name\",\"value\":\"\(name)\"}],"
                + "\"input\":[{\"name\":\"IDToken\(number)\",\"value\":\"\"}]}"
        }
        return
            "{\"authId\":\"a\",\"stage\":\"\(stage)\",\"callbacks\":[\((callbacks + (more.isEmpty ? [] : [more])).joined(separator: ","))]}"
    }

    private func told(_ machine: inout StepUp, _ page: String) -> [String] {
        let order = machine.answered(200, page)
        return order.call?.json?["callbacks"]?.items?.compactMap { $0["input"]?[0]?["value"]?.text } ?? []
    }

    @Test func byStage() {
        let answers = [answer("mine", AnswerScope(stage: "otp*"))]
        var machine = machine(answers)
        #expect(told(&machine, page(stage: "OTP-1")) == ["mine"])
        #expect(told(&machine, page(stage: "Login")) == ["other"])
        // older servers say it in a callback
        let meta = "{\"type\":\"MetadataCallback\",\"output\":[{\"name\":\"data\",\"value\":{\"stage\":\"otp-2\"}}]}"
        #expect(told(&machine, page(more: meta)) == ["mine"])
    }

    @Test func byPage() {
        let answers = [answer("first", AnswerScope(page: 1)), answer("third", AnswerScope(page: 3))]
        var machine = machine(answers)
        #expect(told(&machine, page(stage: "A")) == ["first"])
        // what is polled is no page
        let waiting =
            "{\"authId\":\"a\",\"callbacks\":[{\"type\":\"PollingWaitCallback\",\"output\":[{\"name\":\"waitTime\",\"value\":\"100\"}]}]}"
        #expect(machine.answered(200, waiting).wait == 100)
        #expect(machine.woke().call != nil)
        #expect(told(&machine, page(stage: "B")) == ["other"])
        #expect(told(&machine, page(stage: "C")) == ["third"])
    }

    @Test func byOrder() {
        var machine = machine([answer("second", AnswerScope(number: 2))])
        #expect(told(&machine, page(passwords: 3)) == ["other", "second", "other"])
    }

    @Test func byName() {
        var machine = machine([answer("mine", AnswerScope(name: "pin"))])
        #expect(told(&machine, page(stage: "A", name: "PIN")) == ["mine"])
        #expect(told(&machine, page(stage: "B", name: "password")) == ["other"])
    }

    @Test(arguments: [
        ("StepUp", "/:StepUp", "mine"), ("Step*", "StepUp", "mine"), ("/alpha:StepUp", "/alpha:StepUp", "mine"),
        ("/alpha:StepUp", "StepUp", "other"), ("Login", "StepUp", "other"),
    ])
    func byTree(_ pattern: String, _ asked: String, _ expected: String) {
        let answers = [answer("mine", AnswerScope(tree: TreePattern(pattern)))]
        let advice = Advice(source: .header, conditions: [.init("AuthenticateToServiceConditionAdvice", [asked])])
        var machine = machine(answers, advice)
        #expect(told(&machine, page()) == [expected])
        // the tree of a transaction is not told
        var other = self.machine(answers)
        #expect(told(&other, page()) == ["other"])
    }

    // MARK: users

    private static let alice =
        "{\"username\":\"alice\",\"universalId\":\"id=4711,ou=user,o=alpha,ou=services,dc=example\",\"realm\":\"/\"}"

    @Test func amSaysWhoTheUserIs() throws {
        var machine = machine([
            answer("bobs", AnswerScope(users: ["bob"])), answer("hers", AnswerScope(users: ["AL*", "carol"])),
        ])
        let question = try #require(machine.answered(200, page(stage: "A")).call)
        #expect(question.head.url == "https://am.example.test/am/json/realms/root/sessions?_action=getSessionInfo")
        #expect(question.head.fields["Cookie"] == "iPlanetDirectoryPro=SESSION-A")
        #expect(question.head.fields["Accept-API-Version"] == "protocol=1.0,resource=3.1")
        #expect(question.action == .sessionInfo && question.text == "{}" && !question.carriesAnswers)
        let call = try #require(machine.answered(200, Self.alice).call)
        #expect(call.input(0)?.text == "hers" && call.number == 3)
        // once
        #expect(told(&machine, page(stage: "B")) == ["hers"])
        #expect(!machine.takeNotes().joined().contains("alice"))
    }

    @Test func theIdIsANameToo() {
        var machine = machine([answer("hers", AnswerScope(users: ["4711"]))])
        _ = machine.answered(200, page())
        #expect(machine.answered(200, Self.alice).call?.input(0)?.text == "hers")
    }

    @Test func nobodyIsAskedWithoutNeed() {
        var machine = machine([
            answer("x", AnswerScope(stage: "elsewhere", users: ["bob"])),
            Answer(callback: "NameCallback", scope: AnswerScope(users: ["bob"]), response: .value("x")),
        ])
        #expect(told(&machine, page()) == ["other"])
    }

    @Test(arguments: [(401, "{\"code\":401}"), (200, "{}"), (200, "no"), (403, alice)])
    func withoutAWordOfAMNothingIsGiven(_ status: Int, _ body: String) {
        var machine = machine([answer("hers", AnswerScope(users: ["alice"]))])
        _ = machine.answered(200, page())
        let failure = machine.answered(status, body).failure
        #expect(failure?.code == .unusable && failure?.doubtsAnswers == false)
        #expect(failure?.reason.hasPrefix("AM does not name the session's user (\(status))") == true)
    }

    // MARK: covering

    @Test(arguments: [
        (AnswerScope(), AnswerScope(stage: "a", page: 2, users: ["x"]), true),
        (AnswerScope(stage: "a*"), AnswerScope(stage: "ab"), true), (AnswerScope(stage: "a*"), AnswerScope(), false),
        (AnswerScope(page: 1), AnswerScope(page: 1), true), (AnswerScope(page: 1), AnswerScope(page: 2), false),
        (AnswerScope(number: 1), AnswerScope(), false),
        (AnswerScope(users: ["a*", "b"]), AnswerScope(users: ["ab", "b"]), true),
        (AnswerScope(users: ["a*", "b"]), AnswerScope(users: ["c"]), false),
        (AnswerScope(users: ["a"]), AnswerScope(), false),
        (AnswerScope(tree: TreePattern("Step*")), AnswerScope(tree: TreePattern("StepUp")), true),
        (AnswerScope(tree: TreePattern("Step*")), AnswerScope(tree: TreePattern("/alpha:StepUp")), true),
        (AnswerScope(tree: TreePattern("/alpha:Step*")), AnswerScope(tree: TreePattern("StepUp")), false),
        (AnswerScope(tree: TreePattern("/alpha:*")), AnswerScope(tree: TreePattern("/beta:StepUp")), false),
        (AnswerScope(tree: TreePattern("Step*")), AnswerScope(), false),
    ])
    func covers(_ scope: AnswerScope, _ other: AnswerScope, _ expected: Bool) {
        #expect(answer("a", scope).covers(answer("b", other)) == expected)
        #expect(!answer("a", scope).covers(Answer(callback: "NameCallback", response: .value("x"))))
        #expect(!answer("a", scope, prompt: "code").covers(answer("b", other)))
    }
}
