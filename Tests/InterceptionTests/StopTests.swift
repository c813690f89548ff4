import HTTPCodec
import Testing

@testable import Interception

/// Chains that an interceptor ends, while the message goes on.
@Suite struct StopTests {
    private static func mark(_ name: String, _ more: [any RequestEdit & ResponseEdit] = []) -> Rule {
        let edits: [any RequestEdit & ResponseEdit] = more + [AddHeader([Pair("X", name)])]
        return Rule(name: name, request: edits, response: edits)
    }

    private static let rules = [mark("a"), mark("b", [Stop()]), mark("c")]

    private static func run(_ plan: Plan) throws -> (request: [String], response: [String]) {
        let (sent, asked) = plan.request(try request("GET http://a.example/"))
        let (answer, answered) = plan.response(try response("HTTP/1.1 200 OK"), to: sent)
        #expect(asked.verdict == .proceed && answered.verdict == .proceed)
        return (sent.fields.values(named: "X"), answer.fields.values(named: "X"))
    }

    /// Its own edits are made, also those behind `stop`.
    @Test func nobodyBehindItIsAsked() throws {
        #expect(try Self.run(Plan(rules: Self.rules)) == (["a", "b"], ["a", "b"]))
        var chain = ChainRules()
        chain.responseOrder = .reversed
        #expect(try Self.run(Plan(rules: Self.rules, chain: chain)) == (["a", "b"], ["c", "b"]))
    }

    @Test func oneThatDoesNotApplyStopsNobody() throws {
        var rules = Self.rules
        rules[1].when = .test(.method, [.exact("POST")])
        #expect(try Self.run(Plan(rules: rules)) == (["a", "c"], ["a", "c"]))
    }

    @Test func whereNoAnswerCame() throws {
        let plan = Plan(rules: [
            Rule(name: "a", error: [Stop()]), Rule(name: "b", error: [Abort("never asked")]),
        ])
        var context = EditContext()
        let outcome = plan.applyError(.terminated, try request("GET http://a.example/"), &context)
        #expect(outcome.verdict == .proceed && outcome.stopped == "a")
    }

    @Test func itIsSaid() throws {
        let plan = Plan(rules: Self.rules, explains: true)
        let verdicts = plan.request(try request("GET http://a.example/")).outcome.judgement?.verdicts ?? []
        #expect(verdicts.map(\.matched) == [true, true, false])
        #expect(verdicts.last?.because == "not asked: b stopped the chain")
    }

    /// What is looked ahead for, whether a body is needed, goes by it as well.
    @Test func nobodyKeepsABodyForThoseBehind() throws {
        let plan = Plan(rules: [
            Rule(name: "a", request: [Stop()]), Rule(name: "b", request: [SetBody([1], contentType: "text/x")]),
        ])
        var context = EditContext()
        let head = try request("POST http://a.example/\nContent-Length: 3")
        #expect(!plan.keepsRequestBody(head, &context) && !plan.needsRequestBody(from: 0, head, &context))
    }
}
