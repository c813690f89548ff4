import Interception
import ProxyCore
import Testing

@Suite("Timeouts")
struct TimeTests {
    /// The moment before nothing happens; at the moment it does.
    private func expires(_ talk: Conversation, after milliseconds: Int, _ check: (Conversation) -> Bool) {
        talk.driver.waits(milliseconds - 1)
        #expect(!check(talk), "too early")
        talk.driver.waits(1)
        #expect(check(talk), "too late")
    }

    private let limits = settings {
        $0.timeouts.resolve = 150
        $0.timeouts.connect = 100
        $0.timeouts.header = 200
        $0.timeouts.idle = 300
        $0.timeouts.response = 400
        $0.timeouts.tunnelIdle = 500
    }

    @Test(arguments: [get, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"])
    func aNameThatNobodyResolves(_ request: String) {
        let talk = Conversation(limits)
        talk.client(request)
        talk.driver.dialResolves()
        expires(talk, after: 150) { $0.record.status == 504 }
        #expect(talk.record.proxyError == "dns_timeout")
        #expect(
            talk.clientGot().contains(
                "the name a.test could not be resolved: no name server responded within timeouts.resolve"))
    }

    @Test func connectingHasItsTimeAfterResolving() {
        let talk = Conversation(limits)
        talk.client(get)
        talk.driver.dialResolves()
        talk.driver.waits(149)
        talk.driver.dialConnects()
        expires(talk, after: 100) { $0.record.status == 504 }
        #expect(talk.record.proxyError == "connection_timeout" && talk.clientGot().contains("timeouts.connect"))
    }

    @Test func idleBeforeAndBetweenRequests() {
        let talk = Conversation(limits)
        expires(talk, after: 300) { $0.driver.client == .closed }
        #expect(talk.driver.records.isEmpty)

        let second = Conversation(limits)
        second.driver.waits(100)
        second.exchange(get, ok)
        expires(second, after: 300) { $0.driver.client == .closed }
        #expect(second.driver.records.count == 1)
    }

    @Test func aHeadThatDoesNotCome() {
        for part in ["G", "GET http://a.test/ HTTP/1.1\r\nAccept: x\r\nCookie: y\r\nX"] {
            let talk = Conversation(limits)
            talk.driver.waits(100)
            talk.client(part)
            talk.driver.waits(100)
            talk.client("E")
            expires(talk, after: 100) { $0.record.status == 408 }
            #expect(talk.driver.client == .finished && talk.record.proxyError == "http_request_error")
            #expect(talk.clientGot().contains("timeouts.header"))
        }
    }

    @Test func theSecondHeadDoesNotComeEither() {
        let talk = Conversation(limits)
        talk.exchange("HEAD http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n")
        talk.client("GET")
        expires(talk, after: 200) { $0.record.status == 408 }
        // the answer is no answer to the HEAD before it
        #expect(talk.clientGot().hasSuffix("timeouts.header.\n"))
    }

    @Test func aSlowReaderDoesNotLendTimeToAHead() {
        let talk = Conversation(limits)
        talk.client("GET")
        talk.driver.waits(150)
        talk.driver.touched()
        expires(talk, after: 50) { $0.record.status == 408 }
    }

    @Test func aSlowReaderOfInterimAnswersDoesNotLendTimeToTheOrigin() {
        let talk = Conversation(limits)
        talk.client(get)
        talk.connects()
        talk.origin("HTTP/1.1 103 Early Hints\r\n\r\n")
        talk.driver.waits(limits.timeouts.response - 50)
        talk.driver.touched(.client)
        expires(talk, after: 50) { $0.record.status == 504 }
    }

    @Test func connecting() {
        let talk = Conversation(limits)
        talk.client(get)
        talk.driver.touched()
        expires(talk, after: 100) { $0.record.status == 504 }
        #expect(talk.record.proxyError == "connection_timeout" && talk.driver.dialing == nil && talk.driver.isIdle)

        let tunnel = Conversation(limits)
        tunnel.client("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
        expires(tunnel, after: 100) { $0.record.status == 504 }
        #expect(tunnel.driver.dialing == nil)
    }

    @Test func theAnswerDoesNotCome() {
        let talk = Conversation(limits)
        talk.client(get)
        talk.connects()
        talk.driver.waits(100)
        talk.origin("HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 200")
        expires(talk, after: 300) { $0.record.status == 504 }
        #expect(talk.record.proxyError == "http_response_timeout" && talk.driver.releases == [false])
        #expect(talk.driver.isIdle)
    }

    @Test func theAnswerStopsInTheMiddle() {
        for framing in ["Content-Length: 9", "Transfer-Encoding: chunked", "X: y"] {
            let talk = Conversation(limits)
            talk.client(get)
            talk.connects()
            talk.driver.waits(399)
            talk.origin("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n")
            talk.driver.waits(299)
            talk.origin("1")
            expires(talk, after: 300) { $0.driver.client == .reset }
            #expect(talk.record.proxyError == "http_response_timeout" && talk.driver.records.count == 1)
        }
    }

    @Test func theRequestsBodyStops() {
        for (framing, part) in [("Content-Length: 9", "1"), ("Transfer-Encoding: chunked", "1\r\nx")] {
            let talk = Conversation(limits)
            talk.client("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\(framing)\r\n\r\n")
            talk.connects()
            talk.driver.waits(299)
            talk.client(part)
            expires(talk, after: 300) { $0.record.status == 408 }
            #expect(talk.driver.client == .finished && talk.driver.releases == [false])
            #expect(talk.clientGot().contains("the request's body did not arrive within timeouts.idle"))
        }
    }

    @Test func theRequestsBodyStopsWhileItIsKept() {
        var kept = stepUpSettings()
        kept.timeouts = limits.timeouts
        let talk = Conversation(kept)
        talk.client("POST http://shop.test/api/ HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 9\r\n\r\n")
        talk.driver.waits(299)
        talk.client("1")
        expires(talk, after: 300) { $0.record.status == 408 }
        #expect(talk.driver.client == .finished && talk.driver.dials == 0)
    }

    @Test func theResponseClockStartsWhenTheBodyIsOut() {
        let talk = Conversation(limits)
        talk.client("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\n")
        talk.connects()
        talk.driver.waits(250)
        talk.client("a")
        talk.driver.waits(250)
        talk.client("b")
        expires(talk, after: 400) { $0.record.status == 504 }
    }

    @Test func tunnels() {
        let talk = Conversation(limits)
        talk.client("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
        talk.connects()
        expires(talk, after: 500) { $0.driver.client == .closed }
        #expect(talk.driver.records.count == 1 && talk.driver.releases == [false])

        let busy = Conversation(limits)
        busy.client("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
        busy.connects()
        busy.client("\u{16}")
        busy.driver.waits(499)
        busy.origin("x")
        busy.driver.waits(499)
        busy.client("y")
        expires(busy, after: 500) { $0.driver.client == .closed }
    }

    @Test func theLastAnswerIsWaitedForButNotForEver() {
        let talk = Conversation(limits)
        talk.exchange("GET http://a.test/ HTTP/1.0\r\nHost: a.test\r\n\r\n", ok)
        #expect(talk.driver.client == .finished)
        expires(talk, after: 2_000) { $0.driver.client == .closed }
    }

    @Test func aClientThatReadsSlowlyIsNotIdle() {
        let talk = Conversation(limits)
        talk.exchange(get, ok)
        for _ in 0..<5 {
            talk.driver.waits(250)
            talk.driver.touched()
        }
        #expect(talk.driver.client == .open)
        expires(talk, after: 300) { $0.driver.client == .closed }
    }

    @Test func aClosedConnectionThatIsNotReadIsResetInTheEnd() {
        // the driver keeps the socket until what is queued has gone out
        let talk = Conversation(limits)
        talk.driver.holdsOutput = true
        talk.client(get)
        talk.connects()
        talk.driver.clientEnds()
        talk.origin(ok)
        #expect(talk.driver.isClosed && talk.driver.client == .finished)
        talk.driver.waits(200)
        talk.driver.touched()
        expires(talk, after: 300) { $0.driver.client == .reset }
    }
}
