import Authorization
import Formats
import HTTPCodec
import Testing

/// What the loader takes for a type that can be answered, a step-up can answer.
@Suite struct CallbackKindTests {
    private func step(_ type: String) -> String {
        """
        {"authId":"a","callbacks":[{"type":"\(type)","output":[{"name":"prompt","value":"?"},\
        {"name":"choices","value":["1","true"]}],"input":[{"name":"IDToken1","value":""}]}]}
        """
    }

    /// What AM is told where the configuration answers such a callback with 1.
    private func told(_ type: String, _ answer: String) -> StepUp.Order {
        var policy = policy()
        policy.answers = [.init(callback: type, response: .value(answer))]
        var machine = StepUp(policy: policy, advice: StepUpTests.transaction, session: "SESSION-A")
        _ = machine.begin()
        return machine.answered(200, step(type))
    }

    @Test(arguments: CallbackKind.answerable) func whatTakesAnAnswerIsFilledIn(_ type: String) throws {
        let kind = try #require(CallbackKind.known[type])
        if case .truth = kind {
            #expect(told(type, "true").call?.input(0) == .bool(true))
        } else {
            #expect(["\"1\"", "1", "0"].contains(told(type, "1").call?.input(0)?.serialized))
        }
    }

    @Test(arguments: CallbackKind.known.filter { !$0.value.takesAnswer }.map(\.key).sorted())
    func whatTakesNoneGoesBackOrEnds(_ type: String) throws {
        let order = told(type, "1")
        if case .unsupported = try #require(CallbackKind.known[type]) {
            #expect(order.failure?.code == .unsupportedCallback)
        } else {
            #expect(order.call?.input(0) == .string(""))
        }
    }

    @Test func aTypeThatNobodyKnowsEndsWhereItHasAnInput() {
        #expect(told("SomethingNewCallback", "1").failure?.code == .unsupportedCallback)
        #expect(!CallbackKind.answerable.contains("SomethingNewCallback"))
        #expect(CallbackKind.answerable.contains("NameCallback"))
    }
}
