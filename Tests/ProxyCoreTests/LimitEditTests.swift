import Addresses
import Interception
import Testing

@testable import ProxyCore

/// Requests that wait for their turn, or are refused.
@Suite("Requests at limits")
struct LimitEditTests {
    /// What all conversations of a test share.
    private final class Gate: LimitStore {
        var ledger = LimitLedger<Void>()
        var now = 0
        /// Whose turn has come, as the loops are told.
        var turns: [WaitingTicket] = []

        func ask(_ key: LimitKey, _ policy: LimitPolicy) -> (ticket: WaitingTicket?, answer: LimitAnswer) {
            let asked = ledger.ask(key, policy, (), now: now)
            turns += asked.turns.map(\.0)
            return (asked.ticket, asked.answer)
        }
        func look(_ ticket: WaitingTicket) -> LimitAnswer {
            let looked = ledger.look(ticket, now: now)
            turns += looked.turns.map(\.0)
            return looked.answer
        }
        func leave(_ ticket: WaitingTicket) { turns += ledger.leave(ticket, now: now).map(\.0) }
    }

    private let gate = Gate()

    private func talk(
        _ policy: LimitPolicy, before: [any RequestEdit] = [], behind: [any RequestEdit] = [],
        response: [any ResponseEdit] = [], _ change: (inout Settings) -> Void = { _ in }
    ) -> Conversation {
        Conversation(
            settings {
                $0.rules = [.init(name: "gate", request: before + [Limit(policy)] + behind, response: response)]
                change(&$0)
            }, limits: gate)
    }

    private func waits(_ talk: Conversation, _ milliseconds: Int) {
        gate.now += milliseconds
        talk.driver.waits(milliseconds)
    }

    private func policy(_ rate: String? = nil, concurrency: Int? = nil, wait: Int? = nil) -> LimitPolicy {
        var policy = LimitPolicy(rate: rate.flatMap { .init($0) }, concurrency: concurrency)
        policy.wait = wait
        return policy
    }

    @Test func oneTooManyIsRefused() {
        let talk = talk(policy("2/m"))
        for _ in 0..<2 { talk.exchange(get, ok) }
        _ = talk.clientGot()
        talk.client(get)
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 429 ") && got.contains("\r\nRetry-After: 30\r\n"))
        #expect(
            got.contains("error=http_request_denied") && got.contains("interceptor gate lets no more through than 2/m"))
        #expect(talk.driver.isIdle && talk.record.attempts == 1 && talk.driver.dials == 1)
        waits(talk, 30_000)
        talk.exchange(get, ok)
        #expect(talk.record.status == 200 && gate.ledger.requests == 0)
    }

    @Test func theStatusIsTheConfigurations() {
        var policy = policy(concurrency: 1)
        policy.status = 503
        let first = talk(policy)
        first.client(get)
        first.connects()
        let second = talk(policy)
        second.client(get)
        #expect(second.clientGot().contains("HTTP/1.1 503 ") && second.record.proxyError == "http_request_denied")
    }

    @Test("A request waits for the rate, and is then sent")
    func waitingForTheRate() {
        var policy = policy("10/s", wait: 1000)
        policy.burst = 1
        let talk = talk(policy)
        talk.exchange(get, ok)
        _ = talk.clientGot()
        talk.client(get)
        waits(talk, 99)
        #expect(talk.driver.dials == 1 && talk.driver.records.count == 1 && talk.originGot() == getForOrigin)
        waits(talk, 1)
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.noted("gate: waits for its turn"))
        #expect(talk.noted("gate: its turn came after 100 ms") && talk.record.milliseconds == 100)
        #expect(gate.ledger.requests == 0)
    }

    @Test("A request waits for another to end, and is notified")
    func waitingForAnother() {
        let first = talk(policy(concurrency: 1, wait: 5000))
        let second = talk(policy(concurrency: 1, wait: 5000))
        first.client(get)
        first.connects()
        second.client(get)
        #expect(second.driver.dials == 0 && second.driver.awaited.count == 1 && gate.turns.isEmpty)
        first.origin(ok)
        #expect(gate.turns == second.driver.awaited.map(\.ticket))
        second.driver.turnCame()
        second.connects()
        second.origin(ok)
        #expect(second.clientGot() == okForClient && gate.ledger.requests == 0 && gate.ledger.count == 0)
    }

    @Test("A request without a notification looks again at the end of its wait")
    func waitingTooLong() {
        let first = talk(policy(concurrency: 1, wait: 5000))
        first.client(get)
        first.connects()
        let late = talk(policy(concurrency: 1, wait: 5000))
        late.client(get)
        waits(late, 4999)
        #expect(late.clientGot().isEmpty)
        waits(late, 1)
        #expect(late.clientGot().contains("HTTP/1.1 429 ") && late.driver.isIdle && gate.ledger.requests == 1)
        let lucky = talk(policy(concurrency: 1, wait: 5000))
        lucky.client(get)
        first.origin(ok)
        waits(lucky, 5000)
        #expect(lucky.driver.dials == 1)
    }

    @Test("A client that leaves frees its place")
    func leaving() {
        let one = policy(concurrency: 1, wait: 60_000)
        let first = talk(one)
        first.client(get)
        first.connects()
        let second = talk(one)
        second.client(get)
        let third = talk(one)
        third.client(get)
        second.driver.clientIsLost()
        #expect(gate.ledger.requests == 2 && second.driver.records.count == 1)
        first.driver.clientIsLost()
        #expect(gate.turns == third.driver.awaited.map(\.ticket))
        third.driver.turnCame()
        third.connects()
        third.driver.originEnds()
        #expect(third.clientGot().contains("HTTP/1.1 502 ") && gate.ledger.requests == 0)
    }

    @Test("Every end of a request frees its place")
    func everyEnd() {
        let ends: [(String, (Conversation) -> Void)] = [
            ("no connection", { $0.driver.dialFails(.refused("no")) }),
            (
                "no answer",
                {
                    $0.connects(); $0.driver.originEnds()
                }
            ),
            (
                "half an answer",
                {
                    $0.connects(); $0.origin("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"); $0.driver.originEnds()
                }
            ),
            (
                "an answer that is no HTTP",
                {
                    $0.connects(); $0.origin("nonsense\r\n\r\n")
                }
            ),
            (
                "too late",
                {
                    $0.connects(); $0.driver.waits(61_000)
                }
            ),
            (
                "another protocol",
                {
                    $0.connects(); $0.origin("HTTP/1.1 101 No\r\n\r\n")
                }
            ),
            (
                "an answer",
                {
                    $0.connects(); $0.origin(ok)
                }
            ),
            (
                "a client that goes",
                {
                    $0.connects(); $0.driver.clientIsLost()
                }
            ),
        ]
        for (name, end) in ends {
            let talk = talk(policy(concurrency: 1))
            talk.client(get)
            #expect(gate.ledger.requests == 1, "\(name)")
            end(talk)
            #expect(gate.ledger.requests == 0, "\(name)")
        }
    }

    @Test("Local responses, faults and delays count, too")
    func verdicts() {
        let answered = talk(policy("1/h"), behind: [Respond(DirectResponse(status: 204))])
        answered.client(get + get)
        let got = answered.clientGot()
        #expect(got.contains("HTTP/1.1 204 ") && got.contains("HTTP/1.1 429 ") && answered.driver.dials == 0)
        let broken = talk(policy("1/s"), before: [Delay(.fixed(300))], behind: [Fault(.reset)]) {
            $0.rules[0].name = "broken"
        }
        broken.client(get)
        broken.driver.waits(300)
        #expect(broken.driver.client == .reset && gate.ledger.requests == 0)
    }

    @Test("A place is free once the origin has responded", arguments: [false, true])
    func pastTheOrigin(_ isSlow: Bool) {
        let talk = talk(
            policy(concurrency: 1), response: [isSlow ? Throttle(1_000) : Delay(.fixed(300))])
        talk.client(get)
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n" + String(repeating: "x", count: 600))
        #expect(gate.ledger.requests == 0 && talk.driver.records.isEmpty)
        for _ in 0..<20 { talk.driver.waits(100) }
        #expect(talk.record.status == 200 && gate.ledger.requests == 0)
    }

    @Test("Each attempt counts, and no exchange has two places")
    func attempts() {
        var retry = RetryPolicy()
        retry.times = 2
        retry.backoff = Backoff(first: 10)
        let talk = talk(policy(concurrency: 1), response: [Retry(retry)])
        talk.client(get)
        talk.connects()
        for _ in 0..<2 {
            talk.origin(ok)
            #expect(gate.ledger.requests == 0)
            talk.driver.waits(10)
            #expect(gate.ledger.requests == 1)
            talk.connects()
        }
        talk.origin(ok)
        #expect(talk.record.attempts == 3 && gate.ledger.requests == 0 && talk.record.status == 200)
    }

    @Test func severalLimitsOneAfterAnother() {
        let talk = talk(policy(concurrency: 2), behind: [Limit(policy("1/m"))])
        talk.exchange(get, ok)
        _ = talk.clientGot()
        talk.client(get)
        #expect(talk.clientGot().contains("than 1/m") && gate.ledger.requests == 0)
    }

    @Test("Hosts, Actions and clients have separate counts", arguments: LimitPolicy.Scope.allCases)
    func scopes(_ scope: LimitPolicy.Scope) {
        var one = policy(concurrency: 1)
        one.scope = scope
        func passes(_ host: String, _ address: String) -> Bool {
            let other = Conversation(
                settings { $0.rules = [.init(name: "gate", request: [Limit(one)])] },
                limits: gate, source: ClientSource(address: .init(address)))
            other.client("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            return other.driver.dialing != nil
        }
        let first = talk(one)
        first.client(get)
        #expect(passes("a.test", "192.0.2.7") == (scope == .client))
        #expect(passes("b.test", "192.0.2.7") == (scope == .client || scope == .host))
    }

    @Test("Each Action, and each user of one address, has its own count")
    func actionsAndUsers() {
        var one = policy(concurrency: 1)
        one.scope = .action
        func passes(_ path: String) -> Bool {
            let other = Conversation(
                settings {
                    $0.servers = [server]
                    $0.rules = [.init(name: "gate", request: [Limit(one)])]
                }, limits: gate)
            talks.append(other)
            other.client("POST http://am.test/am/json/\(path) HTTP/1.1\r\nHost: am.test\r\nContent-Length: 0\r\n\r\n")
            return other.driver.dialing != nil
        }
        var talks: [Conversation] = []
        #expect(passes("sessions?_action=logout") && passes("realms/root/authenticate"))
        #expect(!passes("sessions?_action=logout") && !passes("authenticate"))
        func text(_ address: String?, _ user: String?) -> String {
            RequestSender(address: address.flatMap { .init($0) }, user: user).text
        }
        let senders = [
            text("192.0.2.1", nil), text("192.0.2.2", nil), text("192.0.2.1", "a"), text("192.0.2.1", "b"),
            text(nil, "192.0.2.1"), text(nil, nil),
        ]
        #expect(Set(senders).count == senders.count, "\(senders)")
    }

    @Test("The calls of a step-up count, and its exchange has no place meanwhile")
    func calls() {
        var settings = stepUpSettings()
        let both = Condition.test(.by, [.exact("app"), .exact("usher")])
        settings.rules = [.init(name: "gate", when: both, request: [Limit(policy(concurrency: 1))])]
        let talk = Conversation(settings, limits: gate)
        talk.exchange(SteppingUp.get, SteppingUp.refused())
        #expect(talk.driver.dialing?.host == "am.test" && gate.ledger.requests == 1)
        talk.connects()
        talk.origin(SteppingUp.success)
        #expect(gate.ledger.requests == 1, "the replay")
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot().contains("200 OK") && gate.ledger.requests == 0)
    }

    @Test("If a limit refuses a call to AM, the client gets the original response")
    func aCallThatIsRefused() {
        var settings = stepUpSettings()
        settings.rules = [
            .init(name: "gate", when: .test(.by, [.exact("usher")]), request: [Limit(policy("1/h"))])
        ]
        let first = Conversation(settings, limits: gate)
        first.exchange(SteppingUp.get, SteppingUp.refused())
        #expect(first.driver.dialing?.host == "am.test")
        let second = Conversation(settings, limits: gate)
        second.exchange(SteppingUp.get, SteppingUp.refused())
        #expect(second.driver.dialing == nil)
        #expect(second.clientGot().contains("HTTP/1.1 401 ") && second.noted("interceptor gate lets no more"))
    }
}
