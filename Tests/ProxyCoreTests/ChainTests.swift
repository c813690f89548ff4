import Interception
import ProxyCore
import Testing

/// What holds for a chain as a whole, through the attempts of an exchange.
struct ChainTests {
    private static let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"

    private static func again(_ times: Int = 3, _ name: String = "again") -> Rule {
        var policy = RetryPolicy()
        policy.times = times
        policy.backoff = Backoff(first: 1)
        policy.repeatsAny = true
        return Rule(name: name, when: .test(.status, [.exact("503")]), response: [Retry(policy)])
    }

    private func talk(
        _ rules: [Rule], _ compatibility: ChainRules.Compatibility = .cdt, _ delivery: Delivery = .whole
    ) -> Conversation {
        Conversation(
            settings {
                $0.rules = rules
                $0.chain.compatibility = compatibility
            }, delivery: delivery)
    }

    /// What the origin gets in so many attempts, each of which is asked for again.
    private func attempts(_ count: Int, _ request: String, _ talk: Conversation) -> [String] {
        talk.client(request)
        return (0..<count).map { _ in
            talk.connects()
            defer {
                talk.origin(Self.busy)
                talk.driver.waits(1)
            }
            return talk.originGot()
        }
    }

    @Test("Edits persist from one attempt to the next", arguments: Delivery.all)
    func heads(_ delivery: Delivery) {
        let tag = Rule(name: "tag", request: [AddQuery([.init("t", "1")]), AddHeader([.init("X-Tag", "1")])])
        let talk = talk([tag, Self.again()], .cdt, delivery)
        let sent = attempts(3, get, talk)
        for (index, head) in sent.enumerated() {
            let query = Array(repeating: "t=1", count: index + 1).joined(separator: "&")
            #expect(head.hasPrefix("GET /?\(query) HTTP/1.1\r\n"))
            #expect(head.split(separator: "X-Tag: 1\r\n", omittingEmptySubsequences: false).count == index + 2)
        }
    }

    @Test("Edits of bodies persist if the chain says so, and edits of heads keep the body", arguments: Delivery.all)
    func bodies(_ delivery: Delivery) throws {
        let post = "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\na=1"
        let add = Rule(name: "add", request: [AddForm([Pair("b", "2")])])
        let form = post.replacing("Host", with: "Content-Type: application/x-www-form-urlencoded\r\nHost")
        let grown = attempts(3, form, talk([add, Self.again()], .cdt, delivery))
        #expect(grown.map { $0.split(separator: "\r\n\r\n").last } == ["a=1&b=2", "a=1&b=2&b=2", "a=1&b=2&b=2&b=2"])
        let pristine = attempts(3, form, talk([add, Self.again()], .none, delivery))
        #expect(pristine.allSatisfy { $0.hasSuffix("\r\n\r\na=1&b=2") })
        // an edited head goes with the body that came
        let head = Rule(name: "head", request: [AddHeader([.init("X-Tag", "1")])])
        #expect(attempts(2, post, talk([head, Self.again()])).allSatisfy { $0.hasSuffix("\r\n\r\na=1") })
    }

    @Test func theNextExchangeBeginsAnew() {
        let tag = Rule(name: "tag", request: [AddHeader([.init("X-Tag", "1")])])
        let talk = talk([tag, Self.again(1)])
        _ = attempts(2, get, talk)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 "))
        let next = attempts(1, get, talk)
        #expect(next[0].split(separator: "X-Tag", omittingEmptySubsequences: false).count == 2)
    }

    @Test func aRetryIsWithinTheBudgetThatIsLeft() {
        let talk = talk([Self.again(100)])
        _ = attempts(11, get, talk)
        #expect(talk.driver.dials == 11 && talk.clientGot().hasSuffix("\r\n\r\nbusy") && talk.driver.isIdle)
        #expect(talk.noted("(1 of 10)") && talk.noted("(10 of 10)"))
    }

    @Test func anAbortInTheSecondAttempt() {
        let talk = talk([
            Rule(name: "once", when: .test(.header("X-Sent"), [.glob("*")]), request: [Abort("not twice")]),
            Rule(name: "sent", request: [SetHeader([.init("X-Sent", "1")])]), Self.again(),
        ])
        talk.exchange(get, Self.busy)
        talk.driver.waits(1)
        #expect(talk.driver.dials == 1 && talk.driver.isIdle && talk.driver.records.count == 1)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 502 ") && talk.noted("not twice"))
        // the connection goes on
        talk.exchange(get, ok)
        #expect(talk.clientGot() == okForClient)
    }

    @Test func aFailureIsSeenInTheResponsePhase() {
        let again = Rule(name: "again", response: [SetStatus(200), Retry(Self.again(2).asked)])
        let talk = talk([again])
        talk.client(get)
        talk.driver.dialFails(.refused("no"))
        talk.driver.waits(1)
        talk.connects()
        talk.driver.originEnds()
        talk.driver.waits(1)
        talk.driver.dialFails(.timedOut)
        #expect(talk.driver.dials == 3 && talk.record.proxyError == "connection_timeout")
    }

    @Test("Aborts of requests and of responses have different codes")
    func codes() {
        for (rule, code, token) in [
            (Rule(name: "a", request: [Abort("no")]), 1, "http_request_denied"),
            (Rule(name: "a", response: [Abort("no")]), 2, "proxy_internal_error"),
            (Rule(name: "a", error: [Abort("no")]), 2, "proxy_internal_error"),
        ] {
            let talk = talk([rule], .none)
            talk.client("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nAccept: application/json\r\n\r\n")
            if !rule.error.isEmpty {
                talk.driver.dialFails(.refused("no"))
            } else if !rule.response.isEmpty {
                talk.connects()
                talk.origin(ok)
            }
            let got = talk.clientGot()
            #expect(
                got.hasPrefix("HTTP/1.1 502 ") && got.contains("error=\(token); details=\"interceptor a aborted: no\""))
            #expect(got.contains("; abort-code=\(code)\r\n") && got.contains(#""abort_code":\#(code)"#))
        }
    }
}

extension Rule {
    fileprivate var asked: RetryPolicy? { (response.last as? Retry)?.policy }
}
