import Authorization
import HTTPCodec
import Testing

@Suite("What AM is told once")
struct GivenAnswersTests {
    private func policy() -> AuthorizationPolicy {
        var policy = AuthorizationPolicy(resources: [], server: am)
        policy.answers = [
            .init(callback: "NameCallback", response: .value("robot")),
            .init(callback: "PasswordCallback", prompt: "*code*", response: .value("000000")),
            .init(callback: "PasswordCallback", response: .value("s3cret")),
            .init(callback: "ChoiceCallback", response: .choose("Yes")),
            .init(callback: "HiddenValueCallback", response: .value("none")),
        ]
        return policy
    }

    private func callback(_ type: String, _ prompt: String, input: String = "IDToken1") -> String {
        "{\"type\":\"\(type)\",\"output\":[{\"name\":\"prompt\",\"value\":\"\(prompt)\"},"
            + "{\"name\":\"choices\",\"value\":[\"No\",\"Yes\"]}],\"input\":[{\"name\":\"\(input)\",\"value\":\"\"}]}"
    }

    /// How many of the pages, given in turn, are answered, and why it ended.
    private func answered(_ pages: String...) -> (count: Int, failure: StepUp.Failure?) {
        let advice = Advice(source: .header, conditions: [.init("TransactionConditionAdvice", ["t-1"])])
        var stepUp = StepUp(policy: policy(), advice: advice, session: "S")
        _ = stepUp.begin()
        for (count, page) in pages.enumerated() {
            let text = page.hasPrefix("{\"stage") ? page : "{\"stage\":\"A\",\"callbacks\":[\(page)]}"
            let order = stepUp.answered(200, text.replacing("{\"stage", with: "{\"authId\":\"a\(count)\",\"stage"))
            if let failure = order.failure { return (count, failure) }
            #expect(order.call?.carriesAnswers == true)
        }
        return (pages.count, nil)
    }

    @Test func theSameQuestionEndsIt() {
        let name = callback("NameCallback", "User")
        let password = callback("PasswordCallback", "Password")
        for again in [
            password, callback("PasswordCallback", "Password", input: "IDToken7"), "\(name),\(password)",
            callback("PasswordCallback", "Password 2"), "\(password),\(callback("PasswordCallback", "Your code"))",
        ] {
            let end = answered("\(name),\(password)", again)
            #expect(end.count == 1 && end.failure?.code == .refused && end.failure?.doubtsAnswers == true)
            #expect(end.failure?.reason.contains("s3cret") == false && end.failure?.reason.contains("robot") == false)
        }
        #expect(
            answered(name, password, name).failure?.reason
                == "AM asks again for NameCallback \"User\", which was answered: "
                + "the answers are wrong, or belong to another user than the session")
    }

    @Test func otherQuestionsDoNot() {
        let password = callback("PasswordCallback", "Password")
        #expect(answered(password, callback("PasswordCallback", "Your code")).failure == nil)
        #expect(answered(password, callback("PasswordCallback", "New password")).failure == nil)
        #expect(answered(password, callback("NameCallback", "Password")).failure == nil)
        #expect(answered(password, "{\"stage\":\"B\",\"callbacks\":[\(password)]}").failure == nil)
        // twice on one page is one question and its repetition
        #expect(answered("\(password),\(password)").failure == nil)
    }

    /// Whatever words AM finds for it: a password that was taken is not asked for a third time.
    @Test func onePasswordGoesOutTwice() {
        let prompts = ["Password", "Wrong, three tries left", "Wrong, two tries left", "The last try"]
        let pages = prompts.map { callback("PasswordCallback", $0) }
        let end = answered(pages[0], pages[1], pages[2], pages[3])
        #expect(end.count == 2 && end.failure?.code == .refused && end.failure?.doubtsAnswers == true)
        #expect(end.failure?.reason.contains("s3cret") == false)
        // on stages and beside names of their own, too
        let stages = ["B", "C", "D"].map { "{\"stage\":\"\($0)\",\"callbacks\":[\(pages[0])]}" }
        #expect(answered(stages[0], stages[1], stages[2]).count == 2)
        // a page that asks for it twice is told it once, and other passwords count by themselves
        let twice = callback("PasswordCallback", "New password") + "," + callback("PasswordCallback", "Again")
        #expect(answered(pages[0], twice, callback("PasswordCallback", "Your code")).failure == nil)
        #expect(answered(pages[0], twice, pages[1]).count == 2)
        #expect(answered(twice, pages[1]).failure == nil)
    }

    /// Other pages may have the same buttons; the same page is refused.
    @Test func choicesBelongToTheirPage() {
        let yes = callback("ChoiceCallback", "Go on?")
        let hidden =
            "{\"type\":\"HiddenValueCallback\",\"output\":[{\"name\":\"id\",\"value\":\"d\"}],"
            + "\"input\":[{\"name\":\"IDToken1\",\"value\":\"\"}]}"
        for button in [yes, hidden] {
            #expect(answered("\(callback("NameCallback", "User")),\(button)", button).failure == nil)
            #expect(answered(button, button).failure?.code == .refused)
        }
    }

    @Test func whatTellsNothingIsNoAnswer() throws {
        let advice = Advice(source: .header, conditions: [.init("TransactionConditionAdvice", ["t-1"])])
        var stepUp = StepUp(policy: policy(), advice: advice, session: "S")
        #expect(stepUp.begin().call?.carriesAnswers == false)
        let message = step("a", "{\"type\":\"TextOutputCallback\",\"output\":[]}")
        for _ in 0..<3 {
            let call = try #require(stepUp.answered(status: 200, fields: fields(json), body: message).call)
            #expect(!call.carriesAnswers)
        }
    }

    /// AM words its prompts by the app's language.
    @Test func theAppSpeaksThroughEveryCall() throws {
        let app = try request(
            "GET", "https://shop.example.test/api/a",
            [
                ("User-Agent", "app/1"), ("Accept-Language", "de"), ("Accept-Language", "en;q=0.5"),
                ("Authorization", "Bearer x"), ("Accept", "text/html"),
            ])
        let advice = Advice(source: .header, conditions: [.init("TransactionConditionAdvice", ["t-1"])])
        var stepUp = StepUp(
            policy: policy(), advice: advice, session: .init(token: "S", carrier: .cookie), realm: "/", app: app)
        let first = try #require(stepUp.begin().call)
        let second = try #require(
            stepUp.answered(
                status: 200, fields: fields(json), body: step("a", callback("NameCallback", "User"))
            ).call)
        for call in [first, second] {
            #expect(call.head.fields.values(named: "User-Agent") == ["app/1"])
            #expect(call.head.fields.values(named: "Accept-Language") == ["de", "en;q=0.5"])
            #expect(call.head.fields["Authorization"] == nil && call.head.fields["Accept"] == "application/json")
        }
    }
}
