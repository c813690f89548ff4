import HTTPCodec
import Interception
import Testing

/// Rules are passed over unseen only where they do not apply: any condition over any request holds just where a look at all
/// of its parts says so.
struct RequestGateTests {
    private static let values: [(Condition.Key, [TextMatcher])] = [
        (.method, [.exact("GET")]), (.method, [.exact("POST"), .exact("BREW")]), (.method, [.glob("P*")]),
        (.method, [.exact("get")]), (.method, []),
        (.host, [.exact("am.example.com")]), (.host, [.exact("AM.example.COM"), .exact("h")]),
        (.host, [.glob("*.example.com")]), (.host, [.exact("::1")]), (.host, []),
        (.path, [.exact("/")]), (.path, [.exact("/am/json")]), (.path, [.exact("/am"), .exact("/am/json/realms")]),
        (.path, [.glob("/am/*")]), (.path, [.glob("*")]), (.path, [.glob("*json")]), (.path, [.exact("/AM/json")]),
        (.path, [.glob("/am/json/re*")]), (.path, [.glob("/b*"), .glob("/am*")]), (.path, []),
        (.header("X-Debug"), [.glob("*")]), (.header("x-debug"), [.exact("1")]), (.header("Via"), [.glob("*")]),
        (.platform, [.exact("ios")]), (.cookie("a"), [.glob("*")]), (.query("q"), [.exact("1")]),
        (.port, [.exact("80")]),
    ]

    private static let requests = [
        "GET http://am.example.com/am/json", "POST http://AM.Example.com/am/json?q=1\nX-Debug: 1", "BREW http://h/",
        "PUT http://h\nCookie: a=b\nx-dEBUG: 2", "GET http://[::1]/am\nVia: 1.1 x", "get http://other.example.com/b",
        "GET http://127.0.0.1/am/json/realms\nX-Requested-Platform: ios\nX-Dabug: 3", "POST http://hh/am/JSON",
        "GET http://h/%61m/json", "GET http://h//am/x/../json/realms", "PUT http://h/am%2Fjson", "GET http://h/.",
    ]

    private func condition(_ random: inout SeededRandom, depth: Int) -> Condition {
        func parts() -> [Condition] {
            (0..<random.below(4)).map { _ in condition(&random, depth: depth - 1) }
        }
        switch depth > 0 ? random.below(7) : 6 {
        case 0: return .all(parts())
        case 1: return .any(parts())
        case 2: return .not(condition(&random, depth: depth - 1))
        case 3 where random.below(4) == 0: return .always
        default:
            let (key, matchers) = Self.values[random.below(Self.values.count)]
            return .test(key, matchers)
        }
    }

    @Test(arguments: UInt64(1)...24)
    func anyCondition(_ seed: UInt64) throws {
        var random = SeededRandom(state: seed)
        let heads = try Self.requests.map { try request($0) }
        let answer = try response("HTTP/1.1 200 OK\nServer: x")
        for _ in 0..<60 {
            let rules = (0..<5).map {
                Rule(
                    name: "\($0)", when: condition(&random, depth: 3), request: [AddHeader([Pair("X-Mark", "1")])],
                    response: [AddHeader([Pair("X-Mark", "1")])])
            }
            for rule in rules {
                let plan = Plan(rules: [rule])
                let telling = Plan(rules: [rule], explains: true)
                for head in heads {
                    let holds = telling.request(head).outcome.judgement?.verdicts.first?.matched
                    #expect((plan.firstRequestMatch(head, nil) != nil) == holds, "\(rule.when) for \(head.url)")
                    #expect((plan.firstResponseMatch(answer, request: head, nil) != nil) == holds)
                }
            }
            let plan = Plan(rules: rules)
            for head in heads {
                let first = rules.indices.first { Plan(rules: [rules[$0]]).firstRequestMatch(head, nil) != nil }
                #expect(plan.firstRequestMatch(head, nil) == first)
            }
        }
    }

    @Test("Of many rules none is passed over that applies, wherever it stands", arguments: [1, 3, 4, 5, 64, 257])
    func many(_ count: Int) throws {
        let head = try request("GET http://am.example.com/am/json\nX-Debug: 1")
        let others: [Condition] = [
            .test(.host, [.exact("other.example.com")]), .test(.path, [.glob("/admin/*")]),
            .test(.method, [.exact("DELETE")]), .test(.header("X-Other"), [.glob("*")]),
        ]
        func rule(_ number: Int, _ when: Condition) -> Rule {
            Rule(name: "\(number)", when: when, request: [AddHeader([Pair("X-Mark", "\(number)")])])
        }
        for place in Set([0, count / 2, count - 1]) {
            for own in [Condition.test(.host, [.exact("am.example.com")]), .test(.path, [.exact("/am/json")]), .always]
            {
                let rules = (0..<count).map { rule($0, $0 == place ? own : others[$0 % others.count]) }
                #expect(Plan(rules: rules).firstRequestMatch(head, nil) == place)
                #expect(Plan(rules: rules).request(head).head.fields.values(named: "X-Mark") == ["\(place)"])
            }
        }
    }

    @Test("What one rule changes may open the next")
    func chain() throws {
        let plan = Plan(rules: [
            Rule(name: "one", request: [SetHost("am.example.com"), SetMethod("PUT"), SetPath("/new")]),
            Rule(
                name: "two",
                when: .all([
                    .test(.host, [.exact("am.example.com")]), .test(.method, [.exact("PUT")]),
                    .test(.path, [.exact("/new")]),
                ]), request: [SetHeader([Pair("X-Two", "1")])]),
            Rule(
                name: "three", when: .test(.header("X-Two"), [.glob("*")]),
                request: [AddHeader([Pair("X-Three", "1")])]),
        ])
        #expect(plan.request(try request("GET http://h/")).head.fields["X-Three"] == "1")
    }
}
