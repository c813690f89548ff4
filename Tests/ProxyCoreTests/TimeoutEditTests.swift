import Interception
import ProxyCore
import Testing

/// Requests that interceptors give up (`timeout`).
@Suite struct TimeoutEditTests {
    private static func rule(_ milliseconds: Int, _ name: String = "quick") -> Rule {
        Rule(name: name, request: [Timeout(milliseconds)])
    }

    private static func talk(_ rules: [Rule], _ change: (inout Settings) -> Void = { _ in }) -> Conversation {
        Conversation(
            settings {
                $0.rules = rules
                change(&$0)
            })
    }

    private static func expectGivenUp(_ talk: Conversation, after milliseconds: Int, by words: String) {
        talk.driver.waits(milliseconds - 1)
        #expect(talk.clientGot().isEmpty, "too early")
        talk.driver.waits(1)
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 504 ") && got.contains(words), "\(got)")
        #expect(got.contains("error=http_response_timeout") && talk.driver.dialing == nil && talk.driver.origin == nil)
        #expect(got.contains("Connection: close") != talk.driver.isIdle)
    }

    private static let words = "within the 300 ms of interceptor quick"

    @Test func anOriginThatNeverAnswers() {
        let talk = Self.talk([Self.rule(300)])
        talk.client(get)
        talk.connects()
        Self.expectGivenUp(talk, after: 300, by: Self.words)
        #expect(talk.driver.releases == [false])
    }

    @Test func anOriginThatIsNeverReached() {
        let talk = Self.talk([Self.rule(300)])
        talk.client(get)
        talk.driver.waits(200)
        Self.expectGivenUp(talk, after: 100, by: Self.words)
    }

    /// The time goes on while the connection comes about.
    @Test func theTimeBeginsOnce() {
        let talk = Self.talk([Self.rule(300)])
        talk.client(get)
        talk.driver.waits(200)
        talk.connects()
        Self.expectGivenUp(talk, after: 100, by: Self.words)
    }

    @Test func aBodyThatIsStillSent() {
        let talk = Self.talk([Self.rule(300)])
        talk.client("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 9\r\n\r\nab")
        talk.connects()
        talk.driver.waits(200)
        talk.client("cd")
        Self.expectGivenUp(talk, after: 100, by: Self.words)
        // where the body ends, nobody has seen: nothing behind it is a request
        #expect(talk.driver.client == .finished && talk.driver.releases == [false])
        talk.client("efghi" + get)
        #expect(talk.clientGot().isEmpty && talk.driver.records.count == 1)
        talk.driver.waits(3_000)
        #expect(talk.driver.client == .closed && talk.driver.dials == 1)
    }

    @Test func theShortestCounts() {
        let talk = Self.talk([Self.rule(900, "slow"), Self.rule(300), Self.rule(500, "other")])
        talk.client(get)
        talk.connects()
        Self.expectGivenUp(talk, after: 300, by: Self.words)
        let short = Self.talk([Self.rule(300)]) { $0.timeouts.response = 100 }
        short.client(get)
        short.connects()
        Self.expectGivenUp(short, after: 100, by: "timeouts.response")
    }

    /// A delay is no part of it.
    @Test func itBeginsBehindADelay() {
        let talk = Self.talk([Rule(name: "late", request: [Delay(.fixed(1000))]), Self.rule(300)])
        talk.client(get)
        talk.driver.waits(1000)
        talk.connects()
        Self.expectGivenUp(talk, after: 300, by: Self.words)
    }

    @Test func whatHasBegunInTimeMayTakeLonger() {
        let talk = Self.talk([Self.rule(300)])
        talk.client(get)
        talk.connects()
        talk.driver.waits(299)
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
        talk.driver.waits(5000)
        talk.origin("ok")
        #expect(talk.clientGot() == okForClient)
        // nor does it concern the next request
        talk.client("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
    }

    @Test func eachAttemptHasItsOwn() {
        var policy = RetryPolicy()
        policy.backoff = Backoff(first: 50)
        let again = Rule(name: "again", when: .test(.error, [.exact("timeout")]), error: [Retry(policy)])
        let talk = Self.talk([Self.rule(300), again])
        talk.client(get)
        talk.connects()
        talk.driver.waits(300)
        #expect(talk.clientGot().isEmpty && talk.driver.dialing == nil)
        talk.driver.waits(50)
        talk.connects()
        Self.expectGivenUp(talk, after: 300, by: Self.words)
        #expect(talk.record.attempts == 2)
    }
}
