import Authorization
import Formats
import Testing

/// Steps that a person is asked for.
struct PersonTests {
    private static let name =
        #"{"type":"NameCallback","output":[{"name":"prompt","value":"User name"}],"input":[{"name":"IDToken1","value":""}]}"#
    private static let password =
        #"{"type":"PasswordCallback","output":[{"name":"prompt","value":"Code"}],"input":[{"name":"IDToken2","value":""}]}"#
    private static let choice =
        #"{"type":"ChoiceCallback","output":[{"name":"prompt","value":"Approve?"},{"name":"choices","value":["No","Yes"]}],"input":[{"name":"IDToken3","value":0}]}"#
    private static let number =
        #"{"type":"NumberAttributeInputCallback","output":[{"name":"prompt","value":"Age"}],"input":[{"name":"IDToken4","value":null}]}"#
    private static let created =
        #"{"type":"ValidatedCreatePasswordCallback","output":[{"name":"echoOn","value":true},{"name":"failedPolicies","value":["{\"policyRequirement\":\"MIN_LENGTH\"}"]},{"name":"prompt","value":"New"}],"input":[{"name":"IDToken5","value":""},{"name":"IDToken5validateOnly","value":false}]}"#
    private static let confirmation =
        #"{"type":"ConfirmationCallback","output":[{"name":"prompt","value":""},{"name":"optionType","value":2}],"input":[{"name":"IDToken6","value":0}]}"#

    private func machine(_ answers: [AuthorizationPolicy.CallbackAnswer] = [], asks: Bool = true) throws -> StepUp {
        var policy = AuthorizationPolicy(resources: [], server: am)
        policy.answers = answers
        policy.person.isAsked = asks
        let advice = Advice(source: .header, conditions: [.init("TransactionConditionAdvice", ["t-1"])])
        var machine = StepUp(policy: policy, advice: advice, session: "token")
        #expect(machine.begin().call != nil)
        return machine
    }

    private func page(_ callbacks: String...) -> String {
        String(decoding: step("a", callbacks.joined(separator: ",")), as: UTF8.self)
    }

    @Test("What the configuration answers is filled in; a person is asked for the rest, and all goes out together")
    func rest() throws {
        var machine = try machine([.init(callback: "NameCallback", response: .value("robot"))])
        let open = try #require(machine.answered(200, page(Self.name, Self.password)).open)
        #expect(open.callbacks.map(\.index) == [1])
        #expect(open.callbacks.map(\.isSecret) == [true])
        #expect(open.stage == "Any")
        let call = try #require(try machine.told(PersonAnswers([1: ["123456"]])).call)
        #expect(call.input(0) == .string("robot"))
        #expect(call.input(1) == .string("123456"))
        #expect(call.carriesAnswers)
        #expect(!machine.takeNotes().joined().contains("123456"))
    }

    @Test("ask on an answer asks for that callback alone, also where nobody is asked otherwise")
    func one() throws {
        var machine = try machine([.init(callback: "PasswordCallback", response: .ask)], asks: false)
        #expect(machine.answered(200, page(Self.password)).open != nil)
        #expect(try machine.told(PersonAnswers([0: ["1"]])).call != nil)
        #expect(machine.answered(200, page(Self.name)).failure?.code == .unanswered)
    }

    @Test(
        "An answer that cannot be one is refused in words, and the step stays open",
        arguments: [
            ([0: ["Perhaps"]], "ChoiceCallback \"Approve?\" has no such choice; it offers 0 No, 1 Yes"),
            ([0: ["2"]], "ChoiceCallback \"Approve?\" has no such choice; it offers 0 No, 1 Yes"),
            ([0: ["Yes"], 1: ["old"]], "NumberAttributeInputCallback \"Age\" takes a number"),
            ([2: ["a"]], "nothing is asked at place 2; it asks for ChoiceCallback, NumberAttributeInputCallback"),
            ([0: ["Yes", "No"]], "ChoiceCallback \"Approve?\" takes one value, not 2"),
            ([0: ["Yes"]], "NumberAttributeInputCallback \"Age\" is still to be answered"),
        ])
    func refused(_ told: [Int: [String]], _ words: String) throws {
        var machine = try machine()
        #expect(machine.answered(200, page(Self.choice, Self.number)).open?.callbacks.count == 2)
        #expect(throws: OpenStep.Refusal(words)) { try machine.told(PersonAnswers(told)) }
        let call = try #require(try machine.told(PersonAnswers([0: ["yes"], 1: ["42"]])).call)
        #expect(call.input(0) == .integer(1))
        #expect(call.input(1) == .integer(42))
    }

    @Test("A confirmation without options of its own offers those of its type, by AM's numbers")
    func confirmation() throws {
        var machine = try machine()
        let open = try #require(machine.answered(200, page(Self.confirmation)).open?.callbacks.first)
        #expect(open.choices == [.init(3, "OK"), .init(2, "Cancel")])
        #expect(try machine.told(PersonAnswers([0: ["ok"]])).call?.input(0) == .integer(3))
    }

    @Test("A person is told which policies the last answer did not keep to, and whether what is typed may be seen")
    func policies() throws {
        var machine = try machine()
        let open = try #require(machine.answered(200, page(Self.created)).open?.callbacks.first)
        #expect(open.policies == ["MIN_LENGTH"])
        #expect(!open.isSecret)
    }

    @Test("A person who says no ends it, and it says nothing about the answers")
    func denied() throws {
        var machine = try machine()
        _ = machine.answered(200, page(Self.choice))
        let failure = try #require(machine.denied().failure)
        #expect(failure.reason == "a person denied it")
        #expect(!failure.doubtsAnswers)
        #expect(throws: OpenStep.Refusal("nobody is asked for anything")) {
            try machine.told(PersonAnswers([0: ["No"]]))
        }
    }

    @Test("A person may try once more, with what stands beside it; the same once more is a server that did not take it")
    func again() throws {
        var machine = try machine([.init(callback: "NameCallback", response: .value("robot"))])
        let asked = page(Self.name, Self.password)
        #expect(machine.answered(200, asked).open != nil)
        #expect(try machine.told(PersonAnswers([1: ["wrong"]])).call != nil)
        #expect(machine.answered(200, asked).open != nil)
        #expect(try machine.told(PersonAnswers([1: ["right"]])).call != nil)
        #expect(machine.answered(200, asked).open != nil)
        #expect(try machine.told(PersonAnswers([1: ["right"]])).failure?.code == .refused)
    }

    @Test("A person's wrong password counts against the session's own user alone")
    func login() {
        func login(_ answers: [AuthorizationPolicy.CallbackAnswer], _ session: String) -> [UInt8] {
            var policy = AuthorizationPolicy(resources: [], server: am)
            policy.answers = answers
            policy.person.isAsked = true
            return StepUp(policy: policy, advice: Advice(source: .header, conditions: []), session: session).login
                .answers
        }
        #expect(login([], "one") != login([], "two"))
        let fixed = [AuthorizationPolicy.CallbackAnswer(callback: "NameCallback", response: .value("robot"))]
        #expect(login(fixed, "one") == login(fixed, "two"))
    }
}
