import HTTPCodec
import Testing

@testable import Interception

/// Interceptors that take some of the exchanges that fit.
struct SamplingTests {
    private static func plan(_ sampling: Sampling, when: Condition = .always) -> Plan {
        let rule = Rule(
            name: "r", when: when, request: [SetHeader([Pair("X", "1")])], response: [SetHeader([Pair("X", "1")])],
            sampling: sampling)
        return Plan(rules: [rule])
    }

    private static let get = Result { try request("GET http://a.example/") }

    /// Both phases of an exchange: whether each has been edited.
    private static func run(
        _ plan: Plan, _ context: inout EditContext, _ head: RequestHead? = nil
    ) throws -> (request: Bool, response: Bool) {
        var sent = try head ?? get.get()
        var answer = try response("HTTP/1.1 200 OK")
        if let first = plan.firstRequestMatch(sent, nil) {
            _ = plan.applyRequest(from: first, to: &sent, &context)
        }
        if let first = plan.firstResponseMatch(answer, request: sent, nil) {
            _ = plan.applyResponse(from: first, to: &answer, request: sent, &context)
        }
        return (sent.fields["X"] != nil, answer.fields["X"] != nil)
    }

    private static func taken(_ plan: Plan, _ count: Int, seed: UInt64 = 1) throws -> [Bool] {
        let chance = Chance(seed: seed)
        return try (0..<count).map { _ in
            var context = EditContext(chance: chance)
            let (request, response) = try run(plan, &context)
            #expect(request == response, "an interceptor applies to both phases or to neither")
            return request
        }
    }

    @Test(arguments: [
        (Sampling(first: 1), "+-----------"), (Sampling(first: 3), "+++---------"),
        (Sampling(every: 1), "++++++++++++"),
        (Sampling(every: 3), "--+--+--+--+"), (Sampling(first: 6, every: 2), "-+-+-+------"),
        (Sampling(percent: 0), "------------"), (Sampling(percent: 100, every: 5), "----+----+--"),
    ])
    func counted(_ sampling: Sampling, _ expected: String) throws {
        let taken = try Self.taken(Self.plan(sampling), expected.count)
        #expect(String(taken.map { $0 ? "+" : "-" }) == expected)
    }

    @Test(arguments: [UInt64(1), 2, 77])
    func byChance(_ seed: UInt64) throws {
        let taken = try Self.taken(Self.plan(Sampling(percent: 30)), 2000, seed: seed)
        #expect(try taken == Self.taken(Self.plan(Sampling(percent: 30)), 2000, seed: seed), "one seed, one outcome")
        #expect(try taken != Self.taken(Self.plan(Sampling(percent: 30)), 2000, seed: seed + 1))
        let share = taken.count { $0 }
        #expect((540...660).contains(share), "\(share) of 2000")
    }

    /// Whatever chance else there is.
    @Test func aSeedMakesTheSameChoiceEachTime() throws {
        func taken(_ seed: Int?, _ count: Int = 2000) throws -> [Bool] {
            try Self.taken(Self.plan(Sampling(percent: 30, seed: seed)), count, seed: .random(in: 0 ... .max))
        }
        let first = try taken(7)
        #expect(try first == taken(7) && first != taken(8))
        #expect((540...660).contains(first.count { $0 }))
        #expect(String(first.prefix(24).map { $0 ? "+" : "-" }) == "-+---+--+-+----------+--")
        #expect(try taken(nil) != first)
        // each interceptor counts for itself
        let two = Plan(
            rules: ["X", "Y"].map { name in
                Rule(name: name, request: [SetHeader([Pair(name, "1")])], sampling: Sampling(percent: 30, seed: 7))
            })
        for isTaken in first.prefix(50) {
            let sent = two.request(try Self.get.get()).head
            #expect((sent.fields["X"] != nil) == isTaken && (sent.fields["Y"] != nil) == isTaken)
        }
    }

    /// However many ask at a time, as many are taken as if they came one by one.
    @Test func manyLoopsShareTheSeed() async {
        let (shared, alone) = (Sampler(Sampling(percent: 30, seed: 7)), Sampler(Sampling(percent: 30, seed: 7)))
        let taken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var chance = SystemRandomNumberGenerator()
                    return (0..<1000).count { _ in shared.takesNext(&chance) }
                }
            }
            return await group.reduce(0, +)
        }
        var chance = SystemRandomNumberGenerator()
        #expect(taken == (0..<8000).count { _ in alone.takesNext(&chance) })
    }

    /// Two interceptors of one configuration share no count, and a new configuration begins anew.
    @Test func countsAreEachInterceptorsOwn() throws {
        func rule(_ name: String) -> Rule {
            Rule(name: name, request: [SetHeader([Pair(name, "1")])], sampling: Sampling(first: 2, every: 1))
        }
        for _ in 0..<2 {
            let plan = Plan(rules: [rule("X"), rule("Y")])
            let post = try request("POST http://a.example/")
            for isTaken in [true, true, false] {
                let sent = plan.request(post).head
                #expect((sent.fields["X"] != nil) == isTaken && (sent.fields["Y"] != nil) == isTaken)
            }
        }
    }

    @Test func whatChanceDoesNotChooseIsNotCounted() throws {
        let taken = try Self.taken(Self.plan(Sampling(percent: 20, first: 5)), 400)
        #expect(taken.count { $0 } == 5)
        #expect(taken.prefix(5) != [true, true, true, true, true])
    }

    @Test func whatDoesNotFitIsNotCounted() throws {
        let plan = Self.plan(Sampling(first: 1), when: .test(.method, [.exact("POST")]))
        func run(_ text: String) throws -> (request: Bool, response: Bool) {
            var context = EditContext()
            return try Self.run(plan, &context, request(text))
        }
        #expect(try run("GET http://a.example/") == (false, false))
        #expect(try run("POST http://a.example/") == (true, true))
        #expect(try run("POST http://a.example/") == (false, false))
    }

    @Test func aRetryKeepsTheDecision() throws {
        let plan = Self.plan(Sampling(first: 1))
        var context = EditContext()
        var other = EditContext()
        for _ in 0..<3 { #expect(try Self.run(plan, &context) == (true, true)) }
        for _ in 0..<3 { #expect(try Self.run(plan, &other) == (false, false)) }
        #expect(try Self.run(plan, &context) == (true, true))
    }

    /// What looks ahead for whether a body is needed decides for the phase that follows.
    @Test func askingWhetherABodyIsNeededCountsOnce() throws {
        let rule = Rule(
            name: "r", request: [SetBody(Array("new".utf8), contentType: "text/plain")],
            sampling: Sampling(every: 2))
        let plan = Plan(rules: [rule])
        let head = try request("POST http://a.example/\nContent-Length: 3")
        for isTaken in [false, true, false, true] {
            var context = EditContext()
            for _ in 0..<3 {
                #expect(plan.keepsRequestBody(head, &context) == isTaken)
                #expect(plan.needsRequestBody(from: 0, head, &context) == isTaken)
            }
            var sent = head
            let done = plan.applyRequest(from: 0, to: &sent, body: .whole([1, 2, 3]), &context)
            #expect(done.body == (isTaken ? .replaced(Array("new".utf8)) : .asItCame))
        }
    }

    @Test func manyLoopsTakeNoMoreThanIsAllowed() async {
        let sampler = Sampler(Sampling(first: 1000))
        let taken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var chance = SystemRandomNumberGenerator()
                    return (0..<1000).count { _ in sampler.takesNext(&chance) }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(taken == 1000)
    }

    @Test func whoeverWantsToKnowWhatItDoesIsShown() throws {
        let rule = Rule(
            name: "r", request: [SetHeader([Pair("X", "1")])], sampling: Sampling(percent: 30, first: 2, every: 3))
        let (sent, outcome) = Plan(rules: [rule], explains: true).request(try Self.get.get())
        #expect(sent.fields["X"] == "1")
        #expect(
            outcome.judgement?.verdicts.map(\.because) == [
                "applies to everything; it selects some of them (percent: 30, first: 2, every: 3)"
            ])
    }
}
