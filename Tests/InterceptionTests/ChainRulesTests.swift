import HTTPCodec
import Testing

@testable import Interception

/// Rules that hold for a chain as a whole: the order of its phases, and those of CDTDatastore.
struct ChainRulesTests {
    private static let cdt = chain { $0.compatibility = .cdt }
    private static let reversed = chain { $0.responseOrder = .reversed }

    private static func chain(_ change: (inout ChainRules) -> Void) -> ChainRules {
        var chain = ChainRules()
        change(&chain)
        return chain
    }

    private static func policy(_ times: Int) -> RetryPolicy {
        var policy = RetryPolicy()
        policy.times = times
        return policy
    }

    private static func mark(_ name: String) -> Rule {
        Rule(
            name: name, request: [AddHeader([Pair("X-Seen", name)])], response: [AddHeader([Pair("X-Seen", name)])],
            error: [SetState([StateChange("seen", name)])])
    }

    private func order(_ chain: ChainRules, explains: Bool = false) throws -> (request: [String], response: [String]) {
        let plan = Plan(rules: ["A", "B", "C"].map(Self.mark), chain: chain, explains: explains)
        let sent = plan.request(try request("GET http://a.test/")).head
        let answer = plan.response(try response("HTTP/1.1 200 OK"), to: sent).head
        return (sent.fields.values(named: "X-Seen"), answer.fields.values(named: "X-Seen"))
    }

    @Test("The request phase goes in file order, the others as response_order says", arguments: [false, true])
    func order(explains: Bool) throws {
        #expect(try order(ChainRules(), explains: explains) == (["A", "B", "C"], ["A", "B", "C"]))
        #expect(try order(Self.cdt, explains: explains) == (["A", "B", "C"], ["A", "B", "C"]))
        #expect(try order(Self.reversed, explains: explains) == (["A", "B", "C"], ["C", "B", "A"]))
    }

    @Test func theErrorPhaseIsReversedToo() throws {
        let head = try request("GET http://a.test/")
        for (chain, last) in [(ChainRules(), "C"), (Self.reversed, "A")] {
            var context = EditContext()
            let plan = Plan(rules: ["A", "B", "C"].map(Self.mark), chain: chain)
            let outcome = plan.applyError(.connectionRefused, head, &context)
            #expect(outcome.changes.last == "\(last): kept state seen")
        }
    }

    @Test("An interceptor that ends a reversed phase ends it for those before it, and all are judged in file order")
    func endOfAReversedPhase() throws {
        let plan = Plan(
            rules: [Self.mark("A"), Rule(name: "B", response: [Abort("no")]), Self.mark("C")], chain: Self.reversed,
            explains: true)
        let outcome = plan.response(try response("HTTP/1.1 200 OK"), to: try request("GET http://a.test/")).outcome
        let verdicts = try #require(outcome.judgement).verdicts
        #expect(verdicts.map(\.name) == ["A", "B", "C"] && verdicts.map(\.matched) == [false, true, true])
        #expect(verdicts[0].because == "B ended the phase first")
    }

    // MARK: CDT

    private func retries(_ rules: [Rule], _ chain: ChainRules = cdt) throws -> [String] {
        let plan = Plan(rules: rules, chain: chain)
        let outcome = plan.response(try response("HTTP/1.1 200 OK"), to: try request("GET http://a.test/")).outcome
        return outcome.retries.map(\.interceptor)
    }

    @Test func whoSpeaksLastDecides() throws {
        let ask = Rule(name: "ask", response: [Retry(Self.policy(1))])
        let other = Rule(name: "other", response: [Retry(Self.policy(2))])
        let clear = Rule(name: "clear", response: [Retry(nil)])
        let silent = Rule(name: "silent", response: [SetHeader([Pair("X", "1")])])
        let absent = Rule(name: "absent", when: .test(.status, [.exact("500")]), response: [Retry(nil)])
        #expect(try retries([ask, clear]) == [])
        #expect(try retries([clear, ask]) == ["ask"])
        #expect(try retries([ask, silent]) == ["ask"])
        #expect(try retries([ask, absent]) == ["ask"])
        // the one behind is heard first, and the other where that has had all its attempts
        #expect(try retries([ask, other]) == ["other", "ask"])
        #expect(try retries([ask, clear, other]) == ["other"])
        #expect(try retries([ask, other, clear], ChainRules()) == ["ask", "other"])
    }

    @Test func aFailureIsAResponsePhaseWithoutAResponse() throws {
        let rules = [
            Rule(name: "both", response: [SetStatus(200), Retry(Self.policy(1))]),
            Rule(name: "own", response: [Abort("no")], error: [SetState([StateChange("a", "b")])]),
            Rule(name: "status", when: .test(.status, [.exact("200")]), response: [Abort("no")]),
            Rule(name: "kind", when: .test(.error, [.exact("refused")]), response: [Abort("down")]),
        ]
        let head = try request("GET http://a.test/")
        var context = EditContext()
        let outcome = Plan(rules: rules, chain: Self.cdt).applyError(.connectionRefused, head, &context)
        #expect(outcome.retries.map(\.interceptor) == ["both"])
        #expect(outcome.changes == ["own: kept state a", "kind: aborted: down"])
        #expect(outcome.verdict == .abort(interceptor: "kind", reason: "down"))
        var other = EditContext()
        let plain = Plan(rules: rules).applyError(.connectionRefused, head, &other)
        #expect(plain.retries.isEmpty && plain.verdict == .proceed && plain.changes == ["own: kept state a"])
    }

    @Test func allHaveOneState() throws {
        let keep = Rule(name: "keep", request: [SetState([StateChange("com.example.id", "7")])])
        let read = try Rule(
            name: "read", request: [made(SetHeader.self, decoded(["X-Id": decoded("${state.com.example.id}")]))])
        for (chain, values) in [(ChainRules(), []), (Self.cdt, ["7"])] {
            let head = Plan(rules: [keep, read], chain: chain).request(try request("GET http://a.test/")).head
            #expect(head.fields.values(named: "X-Id") == values)
        }
    }

    @Test func whatARetryAsksForThatSaysNoMore() {
        #expect(ChainRules().retry == RetryPolicy() && !ChainRules().editsPersist)
        #expect(Self.cdt.retry.times >= 10 && Self.cdt.retry.repeatsAny && Self.cdt.editsPersist)
    }
}
