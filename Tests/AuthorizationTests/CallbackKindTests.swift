import Authorization
import Formats
import Testing

/// What the loader takes for an answer to a type, a step-up can give.
@Suite struct CallbackKindTests {
    private func step(_ type: String) -> String {
        let names =
            switch CallbackKind.known[type] {
            case .question: ["question", "answer"]
            case .language: ["Language", "Country"]
            case .named: ["token", "signals", "clientError"]
            default: [""]
            }
        let inputs = names.map { "{\"name\":\"IDToken1\($0)\",\"value\":\"\"}" }.joined(separator: ",")
        return """
            {"authId":"a","callbacks":[{"type":"\(type)","output":[{"name":"prompt","value":"?"},\
            {"name":"choices","value":["1","true"]},{"name":"defaultChoice","value":1},{"name":"value","value":7},\
            {"name":"defaultText","value":"x"},{"name":"predefinedQuestions","value":["1"]}],"input":[\(inputs)]}]}
            """
    }

    /// What becomes of such a callback where the configuration has this answer for it.
    private func told(_ type: String, _ response: AuthorizationPolicy.CallbackAnswer.Response) -> StepUp.Command {
        var policy = policy()
        policy.answers = [.init(callback: type, response: response)]
        var machine = StepUp(policy: policy, advice: StepUpTests.transaction, session: "SESSION-A")
        _ = machine.begin()
        return machine.answered(200, step(type))
    }

    private func response(
        _ reply: CallbackKind.Reply, _ type: String
    ) -> AuthorizationPolicy.CallbackAnswer.Response {
        let isTruth = CallbackKind.known[type] == .truth
        let password = OneTimePassword(key: [1], kind: .time(period: 30))
        let name =
            switch CallbackKind.known[type] {
            case .question: "question"
            case .language: "Language"
            case .named: "clientError"
            default: "IDToken1"
            }
        return switch reply {
        case .value: .value(isTruth ? "true" : "1")
        case .choose: .choose(isTruth ? "true" : "1")
        case .preset: .preset
        case .totp, .hotp: .oneTime(password)
        case .device: .device(.init(identifier: "1"))
        case .answer: .security(question: nil, answer: "1")
        case .inputs: .inputs([.init(name, "1")])
        case .redirect: .redirect([.init("code", "1")])
        case .exit: .leave(label: "Exit", after: 0)
        case .ask: .ask
        }
    }

    @Test(arguments: CallbackKind.answerable) func whatTakesAnAnswerIsFilledIn(_ type: String) throws {
        let kind = try #require(CallbackKind.known[type])
        #expect(!kind.replies(type).isEmpty)
        for reply in kind.replies(type) where reply != .exit {
            let order = told(type, response(reply, type))
            if reply == .ask {
                #expect(order.open?.callbacks.map(\.type) == [type], "\(reply)")
                continue
            }
            let call = try #require(order.call, "\(reply): \(String(describing: order.failure))")
            #expect(call.carriesAnswers)
            guard ![.preset, .redirect].contains(reply) else { continue }
            #expect(call.text != step(type), "\(reply)")
        }
    }

    @Test(arguments: CallbackKind.known.filter { !$0.value.takesAnswer }.map(\.key).sorted())
    func whatTakesNoneGoesBackOrEnds(_ type: String) throws {
        let order = told(type, .value("1"))
        if CallbackKind.known[type] == .suspended {
            #expect(order.failure?.code == .suspended)
        } else {
            #expect(order.call?.input(0) == .string(""))
        }
        #expect(CallbackKind.known[type]?.replies(type) == [])
    }

    /// A tree may have callbacks of its own: who names one knows what it wants.
    @Test func aTypeThatNobodyKnowsIsAnsweredByWhoNamesIt() {
        let type = "SomethingNewCallback"
        #expect(told(type, .value("1")).call?.input(0) == .string("1"))
        #expect(told(type, .inputs([.init("IDToken1", "1")])).call?.input(0) == .string("1"))
        #expect(told(type, .inputs([.init("token", "1")])).failure?.code == .unanswered)
        #expect(!CallbackKind.answerable.contains(type))
        #expect(CallbackKind.answerable.contains("NameCallback"))
    }
}
