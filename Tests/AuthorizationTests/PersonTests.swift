import Authorization
import Formats
import Interception
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
            ([0: ["Yes"]], "NumberAttributeInputCallback \"Age\" has no answer yet"),
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

    // MARK: what is no answer is known before it is taken

    private static func odd(_ inputs: String) -> String {
        #"{"type":"OddCallback","output":[{"name":"prompt","value":"Odd"}],"input":["# + inputs + "]}"
    }

    @Test(
        "What a callback of an unknown type cannot hold is refused in words",
        arguments: [
            (
                #"{"name":"IDToken1flag","value":false},{"name":"IDToken1count","value":1}"#, ["perhaps", "1"],
                "OddCallback \"Odd\", flag takes yes or no"
            ),
            (
                #"{"name":"IDToken1flag","value":false},{"name":"IDToken1count","value":1}"#, ["yes", "many"],
                "OddCallback \"Odd\", count takes a number"
            ),
            (#"{"name":"IDToken1","value":false}"#, ["perhaps"], "OddCallback \"Odd\" takes yes or no"),
        ])
    func kinds(_ inputs: String, _ texts: [String], _ words: String) throws {
        var machine = try machine()
        let open = try #require(machine.answered(200, page(Self.odd(inputs))).open)
        #expect(open.refusal(of: PersonAnswers([0: texts])) == OpenStep.Refusal(words))
        #expect(throws: OpenStep.Refusal(words)) { try machine.told(PersonAnswers([0: texts])) }
        let fits = texts.count == 1 ? ["yes"] : ["yes", "2"]
        #expect(open.refusal(of: PersonAnswers([0: fits])) == nil)
        let call = try #require(try machine.told(PersonAnswers([0: fits])).call)
        #expect(call.input(0) == .bool(true))
    }

    @Test("A link is judged where it is given")
    func link() throws {
        var machine = try machine()
        let suspended =
            #"{"callbacks":[{"type":"SuspendedTextOutputCallback","output":[{"name":"message","value":"We sent a mail"}]}]}"#
        let open = try #require(machine.answered(200, suspended).open)
        let wrong = "https://other.example.test/?suspendedId=x"
        #expect(open.refusal(of: PersonAnswers(link: wrong))?.reason.contains("the link leads to") == true)
        #expect(open.refusal(of: PersonAnswers(link: "https://am.example.test/am/?suspendedId=x")) == nil)
    }

    @Test("A person sees what the page says beside its callbacks")
    func messages() throws {
        var machine = try machine()
        func says(_ text: String, _ type: Int) -> String {
            #"{"type":"TextOutputCallback","output":[{"name":"message","value":"\#(text)"},{"name":"messageType","value":"\#(type)"}]}"#
        }
        let body =
            #"{"authId":"a","header":"Payment","description":"Once a day","callbacks":["#
            + [says("Transfer 500 to X?", 0), says("alert(1)", 4), Self.confirmation].joined(separator: ",") + "]}"
        let open = try #require(machine.answered(200, body).open)
        #expect(open.header == "Payment" && open.messages == ["Once a day", "Transfer 500 to X?"])
    }

    @Test("A one-time password is made when the login may begin, not before")
    func turn() throws {
        let state = KeptState()
        let now = Circumstances(seconds: 0, state: state)
        var machine = try machine([
            .init(
                callback: "PasswordCallback",
                response: .oneTime(.init(key: Array("12345678901234567890".utf8), kind: .counter(first: 0))))
        ])
        let order = machine.answered(
            status: 200, fields: fields(json), body: Array(page(Self.password).utf8), now)
        #expect(order.wait == 0 && machine.isAtTurn && state.documents.values.isEmpty)
        #expect(machine.woke(now).call?.input(0) == .string("755224"))
        #expect(!machine.isAtTurn && state.documents.values.count == 1)
    }

    @Test("No one-time password waits for another one of its page")
    func together() throws {
        let state = KeptState()
        func secret(_ key: String, _ kind: OneTimePassword.Kind) -> AuthorizationPolicy.CallbackAnswer.Response {
            .oneTime(.init(key: Array(key.utf8), kind: kind))
        }
        func machine() throws -> StepUp {
            try self.machine(
                [
                    .init(callback: "NameCallback", response: secret("1", .counter(first: 0))),
                    .init(callback: "PasswordCallback", response: secret("2", .time(period: 30))),
                ], asks: false)
        }
        func ask(_ machine: inout StepUp, at seconds: Int) -> StepUp.Command {
            machine.answered(
                status: 200, fields: fields(json), body: Array(page(Self.name, Self.password).utf8),
                Circumstances(seconds: seconds, state: state))
        }
        var first = try machine()
        #expect(ask(&first, at: 40).call != nil)
        func kept(_ kind: String) -> [[UInt8]] {
            state.documents.values.filter { $0.key.hasPrefix(kind) }.map(\.value)
        }
        let given = kept("hotp")
        #expect(given.count == 1 && kept("totp") == [Array("1".utf8)])
        var second = try machine()
        #expect(ask(&second, at: 41).wait == 19_000)
        #expect(kept("hotp") == given, "the counter stays until all can go out")
        #expect(kept("totp") == [Array("2".utf8)], "the time that is waited for is nobody else's")
        let call = second.woke(Circumstances(seconds: 60, state: state)).call
        #expect(
            call?.input(0)
                == OneTimePassword(key: Array("1".utf8), kind: .counter(first: 0)).code(1).map { .string($0) })
        #expect(
            call?.input(1) == OneTimePassword(key: Array("2".utf8), kind: .time(period: 30)).code(2).map { .string($0) }
        )
        #expect(kept("hotp") != given && kept("totp") == [Array("2".utf8)], "each is given once")
    }

    @Test("What a person said is not lost where AM has to be asked for the user meanwhile")
    func registeredMeanwhile() throws {
        let state = KeptState()
        var policy = AuthorizationPolicy(resources: [], server: am)
        policy.person.isAsked = true
        policy.devices = [Device(name: "phone", users: ["*"], server: am)]
        var machine = StepUp(
            policy: policy, advice: Advice(source: .header, conditions: [.init("TransactionConditionAdvice", ["t-1"])]),
            session: "token")
        #expect(machine.begin().call != nil)
        let now = Circumstances(state: state)
        let asked = page(Self.number, Self.password.replacing("Code", with: "Enter verification code"))
        let open = machine.answered(status: 200, fields: fields(json), body: Array(asked.utf8), now).open
        #expect(open?.callbacks.count == 2)
        // another journey has registered a device
        let device =
            #"{"device":"phone","server":"\#(am.url)","realm":"/","user":"bob","registered":1,"uri":"otpauth://totp/a?secret=JBSWY3DP"}"#
        #expect(state.set(StateKey(.devices, "x"), Array(device.utf8)))
        let call = try #require(try machine.told(PersonAnswers([0: ["42"], 1: ["123456"]]), now).call)
        #expect(call.action == .sessionInfo)
        let filled = machine.answered(
            status: 200, fields: fields(json), body: Array(#"{"username":"nobody"}"#.utf8), now)
        #expect(filled.call?.input(0) == .integer(42))
    }
}
