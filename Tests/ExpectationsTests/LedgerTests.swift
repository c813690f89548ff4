import Expectations
import Formats
import Interception
import Journal
import Testing

/// Counts, order and times of messages, and what a report says of them.
struct LedgerTests {
    static let logout = Condition.test(.action, [.exact("LOGOUT")])
    static let revoke = Condition.test(.action, [.exact("REVOKE_TOKEN")])

    static func entry(_ test: MessageTest, _ flows: [Flow]) throws -> ExpectationReport.Entry {
        let expectation = Expectation(name: "it", place: "usher.yaml:1:1", words: "words", test: .messages(test))
        var ledger = ExpectationLedger([expectation])
        for flow in flows { ledger.observe(flow.packed) }
        return try #require(ledger.report().entries.first)
    }

    static func logout(_ id: Int = 1, at: Int = 0) -> Flow {
        Flow(id: id, at: at, method: "POST", target: "/json/sessions?_action=logout", action: .logout)
    }

    static func revoke(_ id: Int = 1, at: Int = 0) -> Flow { .token(.revokeToken, "token=token#1", id: id, at: at) }

    @Test(
        "Counts are read as they are written",
        arguments: [
            ("1", 1...1), (">=2", 2...Int.max), ("<=3", 0...3), ("2-4", 2...4), ("never", 0...0), ("0", 0...0),
        ])
    func counts(_ text: String, _ range: ClosedRange<Int>) { #expect(MessageTest.counts(text) == range) }

    @Test("Other text is no count", arguments: ["", "-1", ">2", "4-2", "1.5", ">=", "+1", "99999999999", "once", "1-"])
    func noCounts(_ text: String) { #expect(MessageTest.counts(text) == nil) }

    @Test("Too few are pending, enough are met, and too many are unmet")
    func counting() throws {
        let once = MessageTest(Self.logout, count: 1...1)
        #expect(try Self.entry(once, []).verdict == .pending)
        #expect(try Self.entry(once, [Self.logout()]).verdict == .met)
        let twice = try Self.entry(once, [Self.logout(1), Self.logout(2)])
        #expect(twice.verdict == .unmet && twice.counted == 2)
        #expect(twice.failures.map(\.id) == [FlowID(2)])
        #expect(twice.because == "action is LOGOUT")
    }

    @Test("What never may come names the flow that came and the term that decided")
    func never() throws {
        let failing = Condition.all([
            .test(.host, [.glob("api.*")]), .test(.status, [.range(500...599)]),
        ])
        let flows = [Flow(id: 7, host: "api.test", status: 503), Flow(id: 8, host: "api.test")]
        let entry = try Self.entry(MessageTest(failing, count: 0...0), flows)
        #expect(entry.verdict == .unmet && entry.counted == 1)
        #expect(entry.because == "host is api.test and status is 503")
    }

    @Test("While messages are missing, the flow that failed the fewest terms is told with them")
    func nearest() throws {
        let wanted = Condition.all([
            .test(.host, [.exact("api.test")]), .test(.method, [.exact("POST")]), .test(.status, [.exact("201")]),
        ])
        let flows = [
            Flow(id: 1, host: "www.test"), Flow(id: 2, method: "POST", host: "api.test", status: 200),
            Flow(id: 3, host: "api.test"),
        ]
        let entry = try Self.entry(MessageTest(wanted, count: 1...1), flows)
        #expect(entry.verdict == .pending)
        #expect(entry.nearest?.id == FlowID(2))
        #expect(entry.because == "0 came, wanted 1; nearest: status is 200, wanted 201")
    }

    @Test("Terms on bodies are judged, and a body that is cut off decides nothing")
    func bodies() throws {
        let form = MessageTest(.test(.form("grant_type"), [.exact("password")]), count: 0...0)
        let flow = Flow.token(.exchangeToken, "grant_type=password")
        #expect(try Self.entry(form, [flow]).verdict == .unmet)
        var cut = flow
        cut.flags = .requestBodyCut
        #expect(try Self.entry(form, [cut]).verdict == .met)
    }

    @Test("A body is judged without its content coding, which the journal has removed")
    func codings() throws {
        let test = MessageTest(.test(.form("a"), [.exact("1")]), count: 1...1)
        let flow = Flow(method: "POST", request: [Flow.form, "Content-Encoding: gzip"], body: "a=1")
        #expect(try Self.entry(test, [flow]).verdict == .met)
    }

    @Test("Errors and the response that the client got for them are seen together")
    func errors() throws {
        let test = MessageTest(
            .all([.test(.error, [.exact("timeout")]), .test(.status, [.exact("504")])]), count: 1...1)
        #expect(try Self.entry(test, [Flow(status: 504, error: "http_response_timeout")]).verdict == .met)
    }

    @Test("Each counted message also has to be as each says")
    func each() throws {
        let test = MessageTest(
            .test(.action, [.glob("*")]), count: 0...Int.max, each: .test(.scheme, [.exact("https")]))
        let entry = try Self.entry(test, [Self.logout(1), Flow(id: 2, scheme: 1, action: .userInfo), Flow(id: 3)])
        #expect(entry.verdict == .unmet && entry.failed == 1 && entry.counted == 2)
        #expect(entry.because == "scheme is http, wanted https")
    }

    @Test("step_up says whether each counted message came by a step-up")
    func stepUps() throws {
        var test = MessageTest(.test(.path, [.exact("/pay")]), count: 2...2)
        let flows = [Flow(id: 1, target: "/pay", flags: .steppedUp), Flow(id: 2, target: "/pay")]
        #expect(try Self.entry(test, flows).verdict == .met)
        test.stepUp = true
        let entry = try Self.entry(test, flows)
        #expect(entry.because == "it came without a step-up" && entry.failures.first?.id == FlowID(2))
        test.stepUp = false
        #expect(try Self.entry(test, flows).because == "it came by a step-up")
    }

    @Test("A path counts in its normal form, as in when")
    func paths() throws {
        let test = MessageTest(.test(.path, [.exact("/a/c")]), count: 1...1)
        #expect(try Self.entry(test, [Flow(target: "/a/b/../c?x=1")]).verdict == .met)
    }

    @Test("Usher's own calls count only where by names them, and attempts never")
    func calls() throws {
        let call = Flow(id: 2, parent: 1, action: .logout)
        let attempt = Flow(id: 3, parent: 1, action: .logout, flags: .attempt)
        let flows = [Self.logout(), call, attempt]
        #expect(try Self.entry(MessageTest(Self.logout, count: 1...1), flows).verdict == .met)
        let own = MessageTest(.all([Self.logout, .test(.by, [.exact("usher")])]), count: 1...1)
        #expect(try Self.entry(own, flows).flows == [FlowID(2)])
    }

    // MARK: order

    @Test("After: each message needs the other one before it, whichever ended first")
    func after() throws {
        var test = MessageTest(Self.revoke, count: 1...Int.max)
        test.after = .init(name: "logout", when: Self.logout)
        #expect(try Self.entry(test, [Self.logout(1), Self.revoke(2, at: 20)]).verdict == .met)
        #expect(try Self.entry(test, [Self.revoke(2, at: 20), Self.logout(1)]).verdict == .met)
        let late = try Self.entry(test, [Self.revoke(1), Self.logout(2, at: 20)])
        #expect(late.verdict == .unmet && late.because == "it came before logout")
        #expect(try Self.entry(test, [Self.revoke(1)]).verdict == .unmet)
    }

    @Test("Before: no message may come after the other one")
    func before() throws {
        var test = MessageTest(Self.revoke, count: 1...Int.max)
        test.before = .init(name: "logout", when: Self.logout)
        #expect(try Self.entry(test, [Self.revoke(1), Self.logout(2, at: 20)]).verdict == .met)
        #expect(try Self.entry(test, [Self.revoke(1)]).verdict == .met)
        #expect(try Self.entry(test, [Self.logout(1), Self.revoke(2, at: 20)]).because == "it came after logout")
    }

    @Test("Within: the distance to the other message, or the exchange's own time")
    func within() throws {
        var test = MessageTest(Self.revoke, count: 1...Int.max)
        test.after = .init(name: "logout", when: Self.logout)
        test.within = 100
        #expect(try Self.entry(test, [Self.logout(1), Self.revoke(2, at: 110)]).verdict == .met)
        let late = try Self.entry(test, [Self.logout(1), Self.revoke(2, at: 111)])
        #expect(late.because == "it came 101 ms after logout, wanted 100 ms")
        test.after = nil
        var slow = Self.revoke(1)
        slow.duration = 101
        #expect(try Self.entry(test, [slow]).because == "it took 101 ms, wanted 100 ms")
        test.before = .init(name: "logout", when: Self.logout)
        #expect(try Self.entry(test, [Self.revoke(1)]).verdict == .pending)
        #expect(try Self.entry(test, [Self.revoke(1), Self.logout(2, at: 50)]).verdict == .met)
    }

    // MARK: journeys

    @Test("Per journey, each login counts by itself")
    func journeys() throws {
        func login(_ id: Int, _ token: Int) -> Flow {
            .step(id, at: id * 10, gets: #"{"tokenId":"session#\#(token)"}"#)
        }
        func ended(_ id: Int, _ token: Int) -> Flow {
            var flow = Self.logout(id, at: id * 10)
            flow.body = #"{"tokenId":"session#\#(token)"}"#
            return flow
        }
        var test = MessageTest(Self.logout, count: 1...1)
        test.scope = .journey
        #expect(try Self.entry(test, []).verdict == .pending)
        #expect(try Self.entry(test, [login(1, 1), login(2, 2), ended(3, 1), ended(4, 2)]).verdict == .met)
        #expect(try Self.entry(test, [login(1, 1), login(2, 2), ended(3, 1)]).verdict == .pending)
        #expect(try Self.entry(test, [login(1, 1), ended(2, 1), login(3, 2), ended(4, 1)]).verdict == .unmet)
    }

    // MARK: the report

    @Test("A report in JSON has the flow, the term and a command to repeat the request")
    func json() throws {
        let test = MessageTest(.test(.status, [.exact("500")]), count: 0...0)
        let expectation = Expectation(name: "no 500", words: "never", test: .messages(test))
        var ledger = ExpectationLedger([expectation])
        ledger.observe(Flow(id: 10, host: "api.test", target: "/a?b=1", request: ["Accept: */*"], status: 500).packed)
        let report = ledger.report()
        let json = report.json
        #expect(json["met"] == .bool(false) && report.unmet == 1 && !report.isPending)
        let failure = try #require(json["expectations"]?[0]?["failures"]?[0])
        #expect(failure["flow"]?.text == "a")
        #expect(failure["because"]?.text == "status is 500")
        #expect(failure["curl"]?.text == "curl 'https://api.test/a?b=1' -H 'Accept: */*' -H User-Agent:")
    }

    @Test("A report keeps the order of the expectations, rules of packs among them")
    func order() {
        let rules = RulePack.all.flatMap(\.rules)
        let one = Expectation(name: "one", words: "", test: .messages(MessageTest(.always, count: 0...Int.max)))
        let ledger = ExpectationLedger([rules[1], one, rules[0]])
        #expect(ledger.report().entries.map(\.expectation.name) == [rules[1].name, "one", rules[0].name])
    }

    @Test("Whatever comes, a ledger keeps only a few flows of each expectation")
    func bounds() throws {
        var test = MessageTest(.always, count: 0...0)
        test.after = .init(name: "x", when: Self.logout)
        let entry = try Self.entry(test, (1...5000).map { Flow(id: $0, at: $0) })
        #expect(entry.counted == 5000 && entry.failures.count <= 5 && entry.flows.count <= 8)
    }
}
