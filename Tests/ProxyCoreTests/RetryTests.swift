import Interception
import ProxyCore
import Testing

/// Further attempts at an interceptor's wish.
@Suite("Retry")
struct RetryTests {
    private static func policy(_ times: Int = 3, after: Int = 250, factor: Double = 2) -> RetryPolicy {
        var policy = RetryPolicy()
        policy.times = times
        policy.backoff = Backoff(first: after, factor: factor)
        return policy
    }

    /// Any answer of that status is asked for again.
    private static func rule(_ policy: RetryPolicy, _ name: String = "again", status: Int = 429) -> Rule {
        Rule(name: name, when: .test(.status, [.range(status...status)]), response: [Retry(policy)])
    }

    private func talk(_ rules: [Rule], _ delivery: Delivery = .whole, _ change: (inout Settings) -> Void = { _ in })
        -> Conversation
    {
        Conversation(
            settings {
                $0.rules = rules
                change(&$0)
            }, delivery: delivery)
    }

    private let busy = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 4\r\n\r\nbusy"

    /// Nothing is asked before that time, and then it is.
    private func expectAttempt(_ talk: Conversation, after milliseconds: Int) {
        if milliseconds > 0 { talk.driver.waits(milliseconds - 1) }
        #expect(talk.driver.dialing == nil && talk.clientGot().isEmpty, "too early")
        talk.driver.waits(1)
        #expect(talk.driver.dialing != nil, "too late")
        talk.connects()
    }

    @Test("Waits grow, and the client gets one response", arguments: Delivery.all)
    func backoff(_ delivery: Delivery) {
        let talk = talk([Self.rule(Self.policy())], delivery)
        talk.exchange(get, busy)
        expectAttempt(talk, after: 250)
        #expect(talk.originGot() == getForOrigin)
        talk.origin(busy)
        expectAttempt(talk, after: 500)
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.driver.dials == 3 && talk.driver.isIdle)
        #expect(talk.driver.releases == [false, false, true] && talk.record.attempts == 3)
        #expect(talk.noted("again: sent again in 250 ms (1 of 3)") && talk.noted("in 500 ms (2 of 3)"))
    }

    @Test func theLastRealAnswerIsDeliveredWhole() {
        let talk = talk([Self.rule(Self.policy(3, after: 10, factor: 1))])
        talk.client(get)
        for _ in 0..<4 {
            talk.connects()
            talk.origin(busy)
            talk.driver.waits(20)
        }
        #expect(talk.driver.dials == 4 && talk.clientGot().hasSuffix("\r\n\r\nbusy") && talk.record.status == 429)
        #expect(talk.noted("again: not sent again: it has had all its 3"))
    }

    @Test func oneBudgetForAll() {
        let rules = [Self.rule(Self.policy(100, after: 1, factor: 1)), Self.rule(Self.policy(100, after: 1), "other")]
        for (limit, dials) in [(10, 11), (0, 1), (4, 5)] {
            let talk = talk(rules) { $0.limits.retries = limit }
            talk.client(get)
            for _ in 0..<20 where talk.driver.dialing != nil {
                talk.connects()
                talk.origin(busy)
                talk.driver.waits(10)
            }
            #expect(talk.driver.dials == dials && talk.record.status == 429 && talk.driver.isIdle)
            #expect(talk.noted("limits.retries allows \(limit) further attempts"))
        }
    }

    @Test func eachInterceptorHasItsOwnCount() {
        let talk = talk([
            Self.rule(Self.policy(1, after: 10), "first"), Self.rule(Self.policy(1, after: 30), "second"),
        ])
        talk.exchange(get, busy)
        expectAttempt(talk, after: 10)
        talk.origin(busy)
        expectAttempt(talk, after: 30)
        talk.origin(busy)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 429 ") && talk.driver.dials == 3)
    }

    @Test func everyAttemptBeginsWithWhatTheClientSent() {
        let talk = talk([
            Rule(name: "tag", request: [AddQuery([.init("tag", "1")]), AddHeader([.init("X-Tag", "1")])]),
            Self.rule(Self.policy(2, after: 0)),
        ])
        talk.client(get)
        for _ in 0..<3 {
            talk.connects()
            #expect(
                talk.originGot() == "GET /?tag=1 HTTP/1.1\r\nHost: a.test\r\nX-Tag: 1\r\nVia: 1.1 usher\r\n\r\n")
            talk.origin(busy)
            talk.driver.waits(1)
        }
    }

    @Test("A retry sends the same body", arguments: Delivery.all)
    func bodies(_ delivery: Delivery) {
        for (framing, sent) in [
            ("Content-Length: 5\r\n\r\nhello", "hello"),
            ("Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", "hello"),
        ] {
            let talk = talk([Self.rule(Self.policy(1, after: 10))], delivery)
            talk.client("PUT http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\(framing)")
            talk.connects()
            #expect(talk.originGot().hasSuffix("Content-Length: 5\r\n\r\n\(sent)"))
            talk.origin(busy)
            expectAttempt(talk, after: 10)
            #expect(talk.originGot().hasSuffix("Content-Length: 5\r\n\r\n\(sent)"))
        }
    }

    @Test("A body is kept for a retry whose condition tests the edited request")
    func bodiesOfEditedRequests() {
        let edits: [(any RequestEdit, Condition)] = [
            (AddHeader([.init("X-Safe", "1")]), .test(.header("X-Safe"), [.exact("1")])),
            (SetPath("/again/1"), .test(.path, [.glob("/again/*")])),
            (SetHost("b.test"), .test(.host, [.exact("b.test")])),
        ]
        for (edit, when) in edits {
            let again = Rule(name: "again", when: when, response: [Retry(Self.policy(1, after: 10))])
            let talk = talk([Rule(name: "edit", request: [edit]), again])
            talk.client("PUT http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello")
            talk.connects()
            #expect(talk.originGot().hasSuffix("\r\n\r\nhello"))
            talk.origin(busy)
            expectAttempt(talk, after: 10)
            #expect(talk.originGot().hasSuffix("\r\n\r\nhello"))
        }
    }

    @Test func aBodyThatIsNotKept() {
        let talk = talk([Self.rule(Self.policy())]) { $0.limits.bufferedBody = 4 }
        talk.client("PUT http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello")
        talk.connects()
        talk.origin(busy)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 429 ") && talk.driver.dials == 1)
        #expect(talk.noted("larger than the 4 bytes that are kept"))
    }

    @Test func methods() {
        let post = "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\nhi"
        let refused = talk([Self.rule(Self.policy())])
        refused.exchange(post, busy)
        #expect(refused.record.status == 429 && refused.noted("methods: any"))
        var any = Self.policy(1, after: 10)
        any.repeatsAny = true
        let allowed = talk([Self.rule(any)])
        allowed.exchange(post, busy)
        expectAttempt(allowed, after: 10)
    }

    @Test("Retry-After counts in seconds and as a date, up to the cap")
    func retryAfter() {
        var policy = Self.policy()
        policy.backoff.cap = 5000
        for (value, wait) in [
            ("1", 1000), ("Thu, 01 Jan 1970 00:16:43 GMT", 3000), ("-5", 250), ("soon", 250), ("999999", 5000),
            ("Thu, 01 Jan 1970 00:00:01 GMT", 0),
        ] {
            let talk = talk([Self.rule(policy)])
            talk.driver.tell(time: 1000)
            talk.client(get)
            talk.connects()
            talk.origin("HTTP/1.1 429 Busy\r\nRetry-After: \(value)\r\nContent-Length: 0\r\n\r\n")
            #expect(talk.driver.dialing == nil)
            expectAttempt(talk, after: wait)
        }
        policy.heedsRetryAfter = false
        let talk = talk([Self.rule(policy)])
        talk.exchange(get, "HTTP/1.1 429 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")
        expectAttempt(talk, after: 250)
    }

    @Test func noAttemptBeginsPastTheDeadline() {
        let talk = talk([Self.rule(Self.policy(3, after: 2000))]) { $0.timeouts.attempts = 3000 }
        talk.exchange(get, busy)
        expectAttempt(talk, after: 2000)
        talk.origin(busy)
        #expect(talk.record.status == 429 && talk.noted("past what timeouts.attempts allows"))
    }

    @Test func precedence() {
        for (edits, status) in [
            ([Retry(Self.policy()), Abort("no")] as [any ResponseEdit], 502),
            ([Retry(Self.policy()), Respond(DirectResponse(status: 503))], 503),
        ] {
            let talk = talk([Rule(name: "both", response: edits)])
            talk.exchange(get, busy)
            #expect(talk.driver.dials == 1 && talk.record.status == status && talk.driver.isIdle)
        }
    }

    @Test func anOriginThatEndsTheSecondAttempt() {
        let talk = talk([Self.rule(Self.policy(1, after: 10))]) { $0.limits.retries = 1 }
        talk.exchange(get, busy)
        expectAttempt(talk, after: 10)
        talk.driver.originEnds()
        #expect(talk.record.proxyError == "connection_terminated" && talk.driver.records.count == 1)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 502 "))
    }

    @Test func aClientThatLeavesWhileItWaits() {
        for lost in [false, true] {
            let talk = talk([Self.rule(Self.policy())])
            talk.exchange(get, busy)
            if lost { talk.driver.clientIsLost() } else { talk.driver.clientEnds() }
            #expect(talk.driver.isOver && talk.driver.records.count == 1)
            talk.driver.waits(1000)
            #expect(talk.driver.dials == 1)
        }
    }

    @Test func aClientThatLeftBefore() {
        let talk = talk([Self.rule(Self.policy())])
        talk.client(get)
        talk.connects()
        talk.driver.clientEnds()
        talk.origin(busy)
        talk.driver.waits(1000)
        #expect(talk.driver.dials == 1 && talk.record.status == 429)
    }

    // MARK: no answer

    private static func onError(_ edits: [any ErrorEdit], _ kinds: String...) -> Rule {
        Rule(name: "handler", when: kinds.isEmpty ? .always : .test(.error, kinds.map { .exact($0) }), error: edits)
    }

    @Test func anOriginThatRefusesForAWhile() {
        let talk = talk([Self.onError([Retry(Self.policy(5, after: 50, factor: 1))], "refused")])
        talk.client(get)
        talk.driver.dialFails(.refused("no"))
        for _ in 0..<2 {
            talk.driver.waits(50)
            #expect(talk.driver.dialing != nil)
            if talk.driver.dials < 3 { talk.driver.dialFails(.refused("no")) }
        }
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.driver.dials == 3)
    }

    @Test func otherKinds() {
        let talk = talk([Self.onError([Retry(Self.policy())], "tls", "dns")])
        talk.client(get)
        talk.driver.dialFails(.refused("no"))
        #expect(talk.record.proxyError == "connection_refused" && talk.driver.dials == 1)
    }

    @Test func anAnswerInItsPlace() {
        let talk = talk([
            Self.onError([Respond(DirectResponse(status: 503, headers: [.init("Retry-After", "9")]))])
        ])
        talk.client(get)
        talk.driver.dialFails(.timedOut)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 9\r\n"))
        #expect(talk.record.status == 503 && talk.driver.isIdle)
    }

    @Test func whatHasBegunIsNotTakenBack() {
        let talk = talk([Self.onError([Retry(Self.policy()), Respond(DirectResponse(status: 503))])])
        talk.client(get)
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        talk.driver.originEnds()
        #expect(talk.driver.client == .reset && talk.driver.dials == 1)
    }

    /// The client has nothing of it yet, so another attempt may take its place.
    @Test func aResponseThatWaitsAndBreaksOffIsAskedForAgain() {
        let slow = Rule(name: "slow", response: [Delay(.fixed(500))])
        let talk = talk([slow, Self.onError([Retry(Self.policy(1, after: 50, factor: 1))])])
        talk.exchange(get, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal")
        talk.driver.originEnds()
        expectAttempt(talk, after: 50)
        talk.origin(ok)
        talk.driver.waits(500)
        #expect(talk.clientGot() == okForClient, "\(talk.notes)")
    }
}
