import Interception
import ProxyCore
import Testing

@Suite("Bodies")
struct BodyTests {
    private let head = "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
    private let forwarded = "POST / HTTP/1.1\r\nHost: a.test\r\n"

    // MARK: requests

    @Test(arguments: Delivery.all)
    func requestByLength(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(head + "Content-Length: 10\r\n\r\n01234")
        talk.connects()
        talk.client("56789")
        #expect(talk.originGot() == forwarded + "Via: 1.1 usher\r\nContent-Length: 10\r\n\r\n0123456789")
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
        #expect(talk.record.requestBytes == 10 && talk.record.responseBytes == 2)
        #expect(talk.driver.releases == [true])
    }

    @Test(arguments: Delivery.all)
    func requestByChunksWithTrailers(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(head + "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3;a=\"b\"\r\nabc\r\n")
        talk.connects()
        talk.client("5\r\ndefgh\r\n0\r\nX-Sum: 8\r\n\r\n")
        #expect(
            talk.originGot() == forwarded
                + "Trailer: X-Sum\r\nVia: 1.1 usher\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nabcdefgh\r\n0\r\nX-Sum: 8\r\n\r\n"
        )
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
    }

    @Test(arguments: Delivery.all)
    func theNextRequestBeginsWhereTheBodyEnds(_ delivery: Delivery) {
        for body in ["Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"] {
            let talk = Conversation(delivery: delivery)
            talk.client(head + body + get)
            talk.connects()
            talk.origin(ok)
            _ = talk.originGot()
            talk.origin(ok)
            #expect(talk.clientGot() == okForClient + okForClient)
            #expect(talk.driver.records.map(\.methodText) == ["POST", "GET"])
        }
    }

    @Test func anEmptyBodyIsAnnouncedWhereTheMethodExpectsOne() {
        for (sent, got) in [
            ("POST", "Via: 1.1 usher\r\nContent-Length: 0\r\n\r\n"), ("DELETE", "Via: 1.1 usher\r\n\r\n"),
            ("PATCH", "Via: 1.1 usher\r\nContent-Length: 0\r\n\r\n"),
        ] {
            let talk = Conversation()
            talk.client("\(sent) http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
            talk.connects()
            #expect(talk.originGot() == "\(sent) / HTTP/1.1\r\nHost: a.test\r\n" + got)
        }
    }

    @Test func aLargeBodyIsMovedByTheDriver() {
        let talk = Conversation()
        talk.client(head + "Content-Length: 1000000\r\n\r\n")
        talk.connects()
        let body = [UInt8](repeating: 0x78, count: 1_000_000)
        talk.client(Array(body[..<999_999]))
        #expect(talk.driver.deadline == talk.driver.now + Timeouts().idle)
        talk.client([0x78])
        #expect(talk.connection?.received.suffix(1_000_000) == body[...])
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        talk.origin(body)
        #expect(talk.driver.sent.suffix(1_000_000) == body[...])
        #expect(talk.record.requestBytes == 1_000_000 && talk.record.responseBytes == 1_000_000)
    }

    @Test func aClientThatSendsFarAheadIsHeldBack() {
        let talk = Conversation()
        talk.client(head + "Content-Length: 200000\r\n\r\n")
        talk.client([UInt8](repeating: 0x78, count: 100_000))
        #expect(talk.driver.isPaused)
        talk.client([UInt8](repeating: 0x79, count: 100_000))
        talk.connects()
        #expect(!talk.driver.isPaused)
        #expect(talk.connection?.received.suffix(200_000).filter { $0 == 0x79 }.count == 100_000)
        talk.origin(ok)
        #expect(talk.record.status == 200 && talk.driver.isIdle)
    }

    @Test func aHeadLongerThanTheReadAheadIsReadAllTheSame() {
        let talk = Conversation(settings { $0.limits.header = 256 << 10 })
        talk.client("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX: " + String(repeating: "x", count: 100_000))
        talk.client("\r\n\r\n")
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
    }

    // MARK: responses

    @Test(arguments: Delivery.all)
    func responseByChunksWithTrailers(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(get)
        talk.connects()
        talk.origin(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n")
        #expect(
            talk.clientGot()
                == "HTTP/1.1 200 OK\r\nVia: 1.1 usher\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\nX-Sum: 5\r\n\r\n"
        )
        #expect(talk.driver.releases == [true] && talk.driver.isIdle)
    }

    @Test(arguments: Delivery.all)
    func chunksForAClientThatKnowsNone(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client("GET http://a.test/ HTTP/1.0\r\nHost: a.test\r\nConnection: keep-alive\r\n\r\n")
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 5\r\n\r\n")
        #expect(talk.clientGot() == "HTTP/1.1 200 OK\r\nConnection: close\r\nVia: 1.1 usher\r\n\r\nabc")
        #expect(talk.driver.client == .finished && talk.driver.releases == [true])
    }

    @Test(arguments: Delivery.all)
    func responseUntilTheEnd(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(get)
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\n\r\nsome")
        talk.origin(" more")
        talk.driver.originEnds()
        #expect(talk.clientGot() == "HTTP/1.1 200 OK\r\nConnection: close\r\nVia: 1.1 usher\r\n\r\nsome more")
        #expect(talk.driver.client == .finished && talk.driver.releases == [false])
        #expect(talk.record.responseBytes == 9)
    }

    @Test(arguments: Delivery.all)
    func answersWithoutABody(_ delivery: Delivery) {
        for (method, answer, got) in [
            ("HEAD", "200 OK\r\nContent-Length: 5\r\n", "200 OK\r\nContent-Length: 5\r\nVia: 1.1 usher\r\n"),
            ("HEAD", "200 OK\r\nTransfer-Encoding: chunked\r\n", "200 OK\r\nVia: 1.1 usher\r\n"),
            ("HEAD", "200 OK\r\n", "200 OK\r\nVia: 1.1 usher\r\n"),
            ("GET", "204 No Content\r\n", "204 No Content\r\nVia: 1.1 usher\r\n"),
            ("GET", "204 No Content\r\nContent-Length: 0\r\n", "204 No Content\r\nVia: 1.1 usher\r\n"),
            (
                "GET", "304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 5\r\n",
                "304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 5\r\nVia: 1.1 usher\r\n"
            ),
            ("GET", "304 Not Modified\r\n", "304 Not Modified\r\nVia: 1.1 usher\r\n"),
            ("GET", "205 Reset\r\nContent-Length: 0\r\n", "205 Reset\r\nVia: 1.1 usher\r\nContent-Length: 0\r\n"),
        ] {
            let talk = Conversation(delivery: delivery)
            talk.exchange("\(method) http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "HTTP/1.1 \(answer)\r\n")
            #expect(talk.clientGot() == "HTTP/1.1 \(got)\r\n")
            #expect(talk.driver.isIdle && talk.driver.releases == [true], "\(method) \(answer)")
        }
    }

    @Test(arguments: Delivery.all)
    func interimResponsesPass(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        let early = "HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n"
        talk.exchange(get, early + "\r\n" + early + "\r\n" + ok)
        #expect(talk.clientGot() == early + "Via: 1.1 usher\r\n\r\n" + early + "Via: 1.1 usher\r\n\r\n" + okForClient)
        #expect(talk.record.status == 200)

        let old = Conversation(delivery: delivery)
        old.exchange("GET http://a.test/ HTTP/1.0\r\nHost: a.test\r\n\r\n", early + "\r\n" + ok)
        #expect(!old.clientGot().contains("103"))
    }

    // MARK: Expect

    @Test(arguments: Delivery.all)
    func continueComesFromTheOrigin(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(head + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        talk.connects()
        #expect(
            talk.originGot() == forwarded + "Expect: 100-continue\r\nVia: 1.1 usher\r\nContent-Length: 3\r\n\r\n")
        #expect(talk.clientGot() == "")
        talk.origin("HTTP/1.1 100 Continue\r\n\r\n")
        #expect(talk.clientGot() == "HTTP/1.1 100 Continue\r\nVia: 1.1 usher\r\n\r\n")
        talk.client("abc")
        #expect(talk.originGot() == "abc")
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
        #expect(talk.driver.isIdle)
    }

    @Test func continueRefused() {
        let talk = Conversation()
        talk.client(head + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        talk.connects()
        talk.origin("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n")
        #expect(
            talk.clientGot() == "HTTP/1.1 417 No\r\nConnection: close\r\nVia: 1.1 usher\r\nContent-Length: 0\r\n\r\n")
        #expect(talk.driver.client == .finished && talk.driver.releases == [false])
    }

    @Test(arguments: Delivery.all)
    func continueIsSaidHereWhereTheBodyIsKept(_ delivery: Delivery) {
        let talk = Conversation(stepUpSettings(), delivery: delivery)
        talk.client(
            "POST http://shop.test/api/x HTTP/1.1\r\nHost: shop.test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        )
        #expect(talk.clientGot() == "HTTP/1.1 100 Continue\r\n\r\n")
        talk.client("abc")
        talk.connects()
        #expect(!talk.originGot().contains("Expect"))
        talk.origin("HTTP/1.1 100 Continue\r\n\r\n" + ok)
        #expect(talk.clientGot() == okForClient)
    }

    // MARK: answers before the request's end

    @Test(arguments: Delivery.all)
    func anEarlyAnswerEndsTheConnection(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(head + "Content-Length: 10\r\n\r\n01234")
        talk.connects()
        talk.origin("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        #expect(
            talk.clientGot()
                == "HTTP/1.1 413 Too Large\r\nConnection: close\r\nVia: 1.1 usher\r\nContent-Length: 2\r\n\r\nno")
        #expect(talk.driver.client == .finished && talk.driver.releases == [false])
        // what still comes is no request
        talk.client("56789" + get)
        #expect(talk.clientGot() == "" && talk.driver.records.count == 1)
        talk.driver.waits(3_000)
        #expect(talk.driver.client == .closed && talk.driver.records.count == 1)
    }

    @Test func aBodyMayGoOnBehindTheHeadOfItsAnswer() {
        let talk = Conversation()
        talk.client(head + "Content-Length: 10\r\n\r\n01234")
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nec")
        talk.client("56789")
        talk.origin("ho")
        #expect(
            talk.clientGot()
                == "HTTP/1.1 200 OK\r\nConnection: close\r\nVia: 1.1 usher\r\nContent-Length: 4\r\n\r\necho")
        #expect(talk.originGot().hasSuffix("0123456789") && talk.driver.releases == [true])
    }

    // MARK: what was cut short

    @Test(arguments: Delivery.all)
    func aTruncatedAnswerIsNeverACleanEnd(_ delivery: Delivery) {
        for body in [
            "Content-Length: 5\r\n\r\nabc", "Content-Length: 5\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n5\r\nabc",
            "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: 1\r\n",
        ] {
            let talk = Conversation(delivery: delivery)
            talk.client(get)
            talk.connects()
            talk.origin("HTTP/1.1 200 OK\r\n" + body)
            talk.driver.originEnds()
            #expect(talk.driver.client == .reset, "\(body)")
            #expect(talk.record.proxyError == "http_response_incomplete" && talk.driver.records.count == 1)
            let got = talk.clientGot()
            #expect(!got.hasSuffix("0\r\n\r\n") && got.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test func anAnswerThatABrokenOffRequestCutsShort() {
        let talk = Conversation()
        talk.client(head + "Content-Length: 10\r\n\r\n01234")
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nec")
        talk.driver.clientEnds()
        #expect(talk.driver.client == .reset && talk.driver.records.count == 1)
    }

    @Test func aResetInACloseDelimitedAnswerIsNoEnd() {
        for part in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nsome"] {
            let talk = Conversation()
            talk.client(get)
            talk.connects()
            talk.origin(part)
            talk.driver.originEnds(cleanly: false)
            #expect(talk.driver.client == .reset && talk.record.proxyError == "http_response_incomplete")
        }
    }

    @Test(arguments: Delivery.all)
    func aHeadThatBreaksOffIsAnswered(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(get)
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Le")
        talk.driver.originEnds()
        #expect(talk.record.status == 502 && talk.record.proxyError == "http_response_incomplete")
        #expect(talk.clientGot().contains("Proxy-Status: usher; error=http_response_incomplete"))
        #expect(talk.driver.isIdle)
    }

    @Test func theClientGoesAwayInTheMiddle() {
        let talk = Conversation()
        talk.client(get)
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc")
        talk.driver.clientIsLost()
        #expect(talk.driver.client == .reset && talk.driver.releases == [false] && talk.driver.records.count == 1)
    }
}
