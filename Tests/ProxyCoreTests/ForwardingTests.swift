import HTTPCodec
import Interception
import ProxyCore
import Testing

@Suite("Forwarding")
struct ForwardingTests {
    @Test(arguments: Delivery.all)
    func absoluteFormBecomesOriginForm(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client("GET http://A.Test:8080/p?q=1 HTTP/1.1\r\nHost: a.test:8080\r\nX-A: 1\r\n\r\n")
        #expect(talk.driver.dialing == Origin(scheme: .http, host: "a.test", port: 8080))
        talk.connects()
        // the target wins over Host, letter for letter
        #expect(talk.originGot() == "GET /p?q=1 HTTP/1.1\r\nHost: A.Test:8080\r\nX-A: 1\r\nVia: 1.1 usher\r\n\r\n")
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
        #expect(talk.record.status == 200 && talk.record.attempts == 1)
        #expect(talk.record.urlText == "http://A.Test:8080/p?q=REDACTED" && talk.record.methodText == "GET")
        #expect(talk.driver.releases == [true] && talk.driver.isIdle)
    }

    @Test(arguments: [
        ("GET http://a.test HTTP/1.1\r\nHost: a.test", "GET / HTTP/1.1\r\nHost: a.test"),
        ("GET http://a.test?q HTTP/1.1\r\nHost: a.test", "GET /?q HTTP/1.1\r\nHost: a.test"),
        ("GET http://a.test/ HTTP/1.1\r\nHost: b.test", "GET / HTTP/1.1\r\nHost: a.test"),
        ("GET http://a.test/ HTTP/1.1\r\nhOsT: a.test:80", "GET / HTTP/1.1\r\nhOsT: a.test"),
        ("GET http://a.test/ HTTP/1.0", "GET / HTTP/1.1\r\nHost: a.test"),
        ("GET http://[::1]:81/ HTTP/1.1\r\nHost: [::1]:81", "GET / HTTP/1.1\r\nHost: [::1]:81"),
        ("OPTIONS http://a.test HTTP/1.1\r\nHost: a.test", "OPTIONS * HTTP/1.1\r\nHost: a.test"),
        ("OPTIONS http://a.test/ HTTP/1.1\r\nHost: a.test", "OPTIONS / HTTP/1.1\r\nHost: a.test"),
        ("BREW http://a.test/pot HTTP/1.1\r\nHost: a.test", "BREW /pot HTTP/1.1\r\nHost: a.test"),
    ])
    func requestLineAndHost(_ sent: String, _ forwarded: String) {
        let talk = Conversation()
        talk.client(sent + "\r\n\r\n")
        talk.connects()
        let version = sent.hasSuffix("HTTP/1.0") ? "1.0" : "1.1"
        #expect(talk.originGot() == forwarded + "\r\nVia: \(version) usher\r\n\r\n")
    }

    @Test func hopByHopFieldsGoNoFurther() {
        let talk = Conversation()
        talk.client(
            "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: X-Hop, close , Upgrade,Host\r\nX-Hop: 1\r\n"
                + "Keep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nUpgrade: h2c\r\n"
                + "Proxy-Authorization: Basic eDp5\r\nX-End: 2\r\nVia: 1.0 other\r\n\r\n")
        talk.connects()
        #expect(
            talk.originGot()
                == "GET / HTTP/1.1\r\nHost: a.test\r\nX-End: 2\r\nVia: 1.0 other\r\nVia: 1.1 usher\r\n\r\n")
        talk.origin(
            "HTTP/1.1 200 Fine\r\nConnection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nUpgrade: h2c\r\n"
                + "Proxy-Authenticate: Basic\r\nContent-Length: 2\r\nX-End: 2\r\n\r\nok")
        #expect(
            talk.clientGot()
                == "HTTP/1.1 200 Fine\r\nX-End: 2\r\nConnection: close\r\nVia: 1.1 usher\r\nContent-Length: 2\r\n\r\nok"
        )
        #expect(talk.driver.client == .finished)
    }

    @Test(arguments: Delivery.all)
    func pipelinedRequestsAreAnsweredInOrder(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(
            "GET http://a.test/1 HTTP/1.1\r\nHost: a.test\r\n\r\nGET http://b.test/2 HTTP/1.1\r\nHost: b.test\r\n\r\n"
                + "POST http://a.test/3 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc")
        let first = talk.connects()
        #expect(talk.originGot() == "GET /1 HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\n\r\n")
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
        talk.connects()
        #expect(talk.originGot() == "GET /2 HTTP/1.1\r\nHost: b.test\r\nVia: 1.1 usher\r\n\r\n")
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2")
        #expect(talk.connection === first)
        #expect(
            talk.originGot() == "POST /3 HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\nContent-Length: 3\r\n\r\nabc")
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n3")
        let answer = { (digit: Int) in "HTTP/1.1 200 OK\r\nVia: 1.1 usher\r\nContent-Length: 1\r\n\r\n\(digit)" }
        #expect(talk.clientGot() == answer(1) + answer(2) + answer(3))
        #expect(talk.driver.records.map(\.urlText) == ["http://a.test/1", "http://b.test/2", "http://a.test/3"])
        #expect(Set(talk.driver.records.map(\.flow)).count == 3)
        #expect(talk.driver.pool.count == 2)
    }

    @Test(arguments: Delivery.all)
    func pipelinedRequestsThatAreAnsweredHere(_ delivery: Delivery) {
        // each has its own record, though all are here before the first is answered
        let settings = settings {
            $0.rules = [.init(name: "gate", request: [Respond(.init(status: 503, body: Array("no".utf8)))])]
        }
        let talk = Conversation(settings, delivery: delivery)
        talk.client(
            "GET http://a.test/1 HTTP/1.1\r\nHost: a.test\r\n\r\nGET http://b.test/2 HTTP/1.1\r\nHost: b.test\r\n\r\n"
                + "POST http://a.test/3 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\n")
        #expect(talk.driver.records.map(\.urlText) == ["http://a.test/1", "http://b.test/2"])
        // the third is answered when its body is here, and the connection goes on
        talk.client("abcGET http://a.test/4 HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(
            talk.driver.records.map(\.urlText)
                == ["http://a.test/1", "http://b.test/2", "http://a.test/3", "http://a.test/4"])
        #expect(talk.driver.records.map(\.status) == [503, 503, 503, 503])
        #expect(talk.driver.client == .open)
        // a client that waits to be asked for its body is answered at once, and nobody reads what it may yet send
        talk.client(
            "POST http://a.test/5 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        #expect(talk.driver.records.map(\.status) == [503, 503, 503, 503, 503])
        #expect(talk.driver.client == .finished)
    }

    @Test(arguments: Delivery.all)
    func aClientThatClosesItsSideGetsAllAnswers(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(get + get + "POST http://a.test/3 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc")
        talk.driver.clientEnds()
        talk.connects()
        for _ in 0..<3 { talk.origin(ok) }
        let last = okForClient.replacing("Via", with: "Connection: close\r\nVia")
        #expect(talk.clientGot() == okForClient + okForClient + last)
        #expect(talk.driver.client == .closed && talk.driver.records.count == 3)
        #expect(
            talk.originGot() == getForOrigin + getForOrigin
                + "POST /3 HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\nContent-Length: 3\r\n\r\nabc")
    }

    @Test func aClientThatClosesItsSideGetsWhatIsAnsweredHereToo() {
        let talk = Conversation(
            settings {
                $0.rules = [
                    .init(
                        name: "gate", when: .test(.path, [.exact("/gate")]),
                        request: [Respond(.init(status: 418))])
                ]
            })
        talk.client(get + "POST http://a.test/gate HTTP/1.1\r\nHost: a.test\r\n\r\n" + get)
        talk.driver.clientEnds()
        talk.connects()
        talk.origin(ok)
        talk.origin(ok)
        #expect(talk.driver.records.map(\.status) == [200, 418, 200] && talk.driver.client == .closed)
    }

    @Test(arguments: Delivery.all)
    func aClientThatClosesItsSideInTheMiddle(_ delivery: Delivery) {
        for rest in [
            "GET http://a.test/ HTT", "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nab",
        ] {
            let talk = Conversation(delivery: delivery)
            talk.client(get + rest)
            talk.driver.clientEnds()
            talk.connects()
            talk.origin(ok)
            #expect(talk.driver.client == .closed)
            #expect(talk.driver.sent.starts(with: Array(okForClient.utf8)))
            #expect(talk.driver.origin == nil && talk.driver.dialing == nil)
        }
    }

    @Test func keepAliveOnBothSides() {
        let talk = Conversation()
        talk.exchange(get, ok)
        talk.client(get)
        #expect(talk.driver.dialing == nil && talk.driver.dials == 1)
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient + okForClient)
    }

    @Test(arguments: [
        ("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: close", "Connection: close\r\n", true),
        ("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nProxy-Connection: Close", "Connection: close\r\n", true),
        ("GET http://a.test/ HTTP/1.0\r\nHost: a.test", "Connection: close\r\n", true),
        ("GET http://a.test/ HTTP/1.0\r\nHost: a.test\r\nConnection: Keep-Alive", "Connection: keep-alive\r\n", false),
        ("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive", "", false),
    ])
    func whoIsKept(_ request: String, _ connection: String, _ closes: Bool) {
        let talk = Conversation()
        talk.exchange(request + "\r\n\r\n", ok)
        #expect(talk.clientGot() == "HTTP/1.1 200 OK\r\n\(connection)Via: 1.1 usher\r\nContent-Length: 2\r\n\r\nok")
        #expect((talk.driver.client == .finished) == closes)
        // the origin's side does not depend on the client's
        #expect(talk.driver.releases == [true])
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", true),
        ("HTTP/1.1 204 No Content\r\n\r\n", true),
    ])
    func whichOriginIsKept(_ response: String, _ kept: Bool) {
        let talk = Conversation()
        talk.exchange(get, response)
        #expect(talk.driver.releases == [kept])
        #expect(talk.driver.client == .open && talk.driver.isIdle)
        #expect(talk.driver.pool.count == (kept ? 1 : 0))
    }

    @Test func anInterceptorDoesNotDecideWhetherTheOriginIsKept() {
        let settings = settings {
            $0.rules = [.init(name: "bare", response: [RemoveHeader(["Connection"])])]
        }
        let talk = Conversation(settings)
        talk.exchange(get, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
        #expect(talk.driver.releases == [false])
    }

    @Test func aNewConfigurationWaitsForTheExchangeUnderWay() {
        let talk = Conversation()
        talk.client(get)
        talk.connects()
        talk.driver.adopt(
            settings { $0.rules = [.init(name: "new", request: [Respond(.init(status: 418))])] })
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
        talk.client(get)
        #expect(talk.record.status == 418)
        talk.driver.adopt(Settings())
        talk.client(get)
        talk.origin(ok)
        #expect(talk.record.status == 200)
    }
}

@Suite("A pooled connection that went stale")
struct StaleConnectionTests {
    private func stale(_ request: String, _ delivery: Delivery = .whole) -> Conversation {
        let talk = Conversation(delivery: delivery)
        talk.exchange(get, ok)
        _ = talk.clientGot()
        talk.client(request)
        talk.driver.originEnds()
        return talk
    }

    @Test(arguments: Delivery.all)
    func aRepeatableRequestGoesOutOnceMore(_ delivery: Delivery) {
        let talk = stale(get, delivery)
        talk.connects()
        #expect(talk.originGot() == getForOrigin)
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
        #expect(talk.driver.records.count == 2 && talk.driver.dials == 2)
    }

    @Test func onlyOnce() {
        let talk = stale(get)
        talk.connects()
        talk.driver.originEnds()
        #expect(talk.driver.dialing == nil && talk.record.status == 502)
        #expect(talk.record.proxyError == "connection_terminated")
        #expect(talk.driver.client == .open)
    }

    @Test(arguments: ["POST", "PATCH", "BREW"])
    func neverWhatMayNotBeRepeated(_ method: String) {
        let talk = stale("\(method) http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(talk.driver.dialing == nil && talk.record.proxyError == "connection_terminated")
    }

    @Test func neverWithABodyThatIsGone() {
        let talk = stale("PUT http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc")
        #expect(talk.driver.dialing == nil && talk.record.proxyError == "connection_terminated")
    }

    @Test func neverAfterAByteOfAnAnswer() {
        let talk = Conversation()
        talk.exchange(get, ok)
        talk.client(get)
        talk.origin("H")
        talk.driver.originEnds()
        #expect(talk.driver.dialing == nil && talk.record.proxyError == "http_response_incomplete")
    }

    @Test func neverOnAFreshConnection() {
        let talk = Conversation()
        talk.client(get)
        talk.connects()
        talk.driver.originEnds()
        #expect(talk.driver.dialing == nil && talk.record.proxyError == "connection_terminated")
    }
}
