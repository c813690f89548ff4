import Testing

@testable import Interception

/// Whether an interceptor may do without the origin that a client names.
struct StandInTests {
    private static let mock = Respond(DirectResponse(status: 200))
    private static let here = Condition.test(.host, [.exact("A.test")])

    private func mayStandIn(_ rule: Rule, for host: String? = "a.test", port: UInt16 = 443) -> Bool {
        Plan(rules: [rule]).mayStandIn(for: host, port: port)
    }

    @Test(arguments: [
        Condition.always, here, .test(.host, [.glob("*.test")]), .all([here, .test(.path, [.exact("/x")])]),
        .any([.test(.host, [.exact("b.test")]), .test(.method, [.exact("GET")])]),
        .not(.test(.host, [.exact("b.test")])), .not(.test(.path, [.exact("/x")])),
        .test(.port, [.exact("443")]),
    ])
    func conditionsThatMayHold(_ condition: Condition) {
        #expect(mayStandIn(Rule(name: "mock", when: condition, request: [Self.mock])))
    }

    @Test(arguments: [
        Condition.test(.host, [.exact("b.test")]), .not(here), .test(.port, [.exact("8443")]),
        .all([.test(.host, [.glob("*.b.test")]), .test(.path, [.exact("/x")])]),
    ])
    func conditionsThatNeverHoldThere(_ condition: Condition) {
        let rule = Rule(name: "mock", when: condition, request: [Self.mock])
        #expect(!mayStandIn(rule))
        #expect(mayStandIn(rule, for: nil) == !rule.when.asksPort)
    }

    @Test func whatAnInterceptorDoes() {
        #expect(mayStandIn(Rule(name: "mock", error: [Self.mock])))
        #expect(mayStandIn(Rule(name: "moved", request: [SetHost("b.test")])))
        // these need the origin
        #expect(!mayStandIn(Rule(name: "mark", request: [SetHeader([Pair("X", "1")])])))
        #expect(!mayStandIn(Rule(name: "late", response: [SetStatus(500)])))
    }
}

extension Condition {
    fileprivate var asksPort: Bool { contains { $0 == .port } }
}
