import Testing

@testable import Interception

/// Whose exchanges interceptors concern: those of apps, or calls of Usher's own.
@Suite struct SenderTests {
    private static let own = Classification(action: .startAuthenticate, evidence: "", isOwn: true)
    private static let app = Classification(action: .startAuthenticate, evidence: "")
    private static let head = Result { try request("POST http://am.example/am/json/authenticate") }

    private static func applies(_ rule: Rule, _ classification: Classification?) throws -> Bool {
        let outcome = Plan(rules: [rule]).request(try head.get(), classification).outcome
        return outcome != Outcome()
    }

    static let verdicts: [any RequestEdit] = [
        Delay(.fixed(1)), Throttle(1), Timeout(1), Fault(.reset), Limit(LimitPolicy(concurrency: 1)),
        Respond(DirectResponse(status: 200)), Abort("no"),
    ]

    @Test(arguments: verdicts.indices)
    func whatHoldsUpOrBreaksIsForApps(_ index: Int) throws {
        let rule = Rule(name: "r", request: [Self.verdicts[index]])
        #expect(try Self.applies(rule, Self.app) && Self.applies(rule, nil))
        #expect(try !Self.applies(rule, Self.own))
    }

    @Test func editsAreForBoth() throws {
        let edits: [any RequestEdit] = [
            SetHeader([Pair("X", "1")]), Stop(), Log("a"), SetState([StateChange("a", "b")]), SetMethod("PUT"),
        ]
        for edit in edits {
            #expect(try Self.applies(Rule(name: "r", request: [edit]), Self.app), "\(edit)")
            #expect(try Self.applies(Rule(name: "r", request: [edit]), Self.own), "\(edit)")
        }
        // no call of Usher's own has an error phase
        let late = Rule(name: "r", request: [SetMethod("PUT")], error: [Abort("no")])
        #expect(try Self.applies(late, Self.own))
        let slow = Rule(name: "r", request: [SetMethod("PUT")], response: [Delay(.fixed(1))])
        #expect(try !Self.applies(slow, Self.own))
    }

    @Test(arguments: [
        (Condition.test(.by, [.exact("usher")]), false, true), (.test(.by, [.exact("app")]), true, false),
        (.test(.by, [.exact("app"), .exact("usher")]), true, true), (.not(.test(.by, [.exact("app")])), false, true),
        (.any([.test(.method, [.exact("GET")]), .test(.by, [.exact("usher")])]), false, true),
    ])
    func theConditionMaySay(_ when: Condition, _ apps: Bool, _ ushers: Bool) throws {
        for edit in [Abort("no"), SetMethod("PUT")] as [any RequestEdit] {
            let rule = Rule(name: "r", when: when, request: [edit])
            #expect(try Self.applies(rule, Self.app) == apps)
            #expect(try Self.applies(rule, nil) == apps)
            #expect(try Self.applies(rule, Self.own) == ushers)
        }
    }

    @Test func itIsSaidWhy() throws {
        let rules = [
            Rule(name: "slow", request: [Delay(.fixed(1))]),
            Rule(name: "apps", when: .test(.by, [.exact("app")]), request: [SetMethod("PUT")]),
        ]
        let verdicts = explain(rules, try Self.head.get(), Self.own)
        #expect(verdicts.map(\.matched) == [false, false])
        #expect(verdicts[0].because.contains("leaves calls of Usher's own alone"))
        #expect(verdicts[1].because == "by is usher, wanted app")
    }

    @Test func callsThatNoAppMakes() {
        func misses(_ actions: [String], _ more: [Condition] = []) -> Bool {
            let when = Condition.all([.test(.action, actions.map { .exact($0) })] + more)
            return Rule(name: "r", when: when, request: [Delay(.fixed(1))]).missesItsCalls
        }
        #expect(misses(["SESSION_LOGIN"]) && misses(["IDENTITY_TOKEN", "EVALUATE_POLICY", "SESSION_INFO"]))
        #expect(!misses(["SESSION_LOGIN", "LOGOUT"]) && !misses(["SESSION_LOGIN"], [.test(.by, [.exact("usher")])]))
        #expect(!Rule(name: "r", request: [Delay(.fixed(1))]).missesItsCalls)
    }
}
