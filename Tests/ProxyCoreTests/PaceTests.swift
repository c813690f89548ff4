import Interception
import ProxyCore
import Testing

/// Messages that wait at an interceptor's wish, or go slowly.
@Suite("Delay and throttle")
struct PaceTests {
    private func talk(
        request: [any RequestEdit] = [], response: [any ResponseEdit] = [], _ delivery: Delivery = .whole
    ) -> Conversation {
        Conversation(
            settings { $0.rules = [.init(name: "slow", request: request, response: response)] }, delivery: delivery)
    }

    @Test func aRequestThatWaits() {
        let talk = talk(request: [Delay(.fixed(500)), Delay(.fixed(300)), SetHeader([.init("X", "1")])])
        talk.client(get)
        talk.driver.waits(799)
        #expect(talk.driver.dialing == nil && talk.driver.dials == 0)
        talk.driver.waits(1)
        talk.connects()
        #expect(talk.originGot().contains("\r\nX: 1\r\n"))
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.record.milliseconds == 800)
        #expect(talk.notes.filter { $0.contains("waits for") } == [500, 300].map { "slow: waits for \($0) ms" })
    }

    @Test func anAnswerMadeHereThatWaits() {
        let talk = talk(request: [Delay(.fixed(500)), Respond(DirectResponse(status: 503))])
        talk.client(get)
        talk.driver.waits(499)
        #expect(talk.clientGot().isEmpty)
        talk.driver.waits(1)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 ") && talk.driver.isIdle)
    }

    @Test("A delayed response is complete in any framing", arguments: Delivery.all)
    func anAnswerThatWaits(_ delivery: Delivery) {
        for (answer, seen) in [
            (ok, okForClient),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nT: 1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nVia: 1.1 usher\r\nTransfer-Encoding: chunked\r\n\r\n"
            ),
        ] {
            let talk = talk(response: [Delay(.fixed(500))], delivery)
            talk.exchange(get, answer)
            talk.driver.waits(499)
            #expect(talk.clientGot().isEmpty && talk.driver.records.isEmpty && talk.driver.releases == [true])
            talk.driver.waits(1)
            let got = talk.clientGot()
            #expect(got.hasPrefix(seen) && got.contains("ok") && talk.driver.isIdle)
            talk.exchange(get, ok)
        }
    }

    @Test func anAnswerThatHasNotComeWholeWhenItsWaitIsOver() {
        let talk = talk(response: [Delay(.fixed(500))])
        talk.client(get)
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
        talk.driver.waits(500)
        #expect(talk.clientGot().hasSuffix("\r\n\r\nabc"))
        talk.origin("def")
        #expect(talk.clientGot() == "def" && talk.driver.isIdle && talk.record.responseBytes == 6)
    }

    @Test func theOriginIsNotReadFarAhead() {
        let talk = talk(response: [Delay(.fixed(500))])
        talk.client(get)
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + String(repeating: "x", count: 60_000))
        #expect(talk.driver.readsOrigin)
        talk.origin(String(repeating: "x", count: 10_000))
        #expect(!talk.driver.readsOrigin)
        talk.driver.waits(500)
        #expect(talk.driver.readsOrigin && talk.clientGot().utf8.count > 70_000)
    }

    @Test func anOriginThatEndsTooSoon() {
        let waiting = talk(response: [Delay(.fixed(500))])
        waiting.client(get)
        waiting.connects()
        waiting.origin("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
        waiting.driver.originEnds()
        #expect(waiting.record.proxyError == "http_response_incomplete" && waiting.record.status == 502)
    }

    @Test("A throttle limits both directions")
    func throttle() {
        let body = String(repeating: "x", count: 2000)
        let down = talk(response: [Throttle(1000)])
        down.exchange(get, "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n\(body)")
        down.driver.waits(1000)
        let first = down.clientGot().filter { $0 == "x" }.count
        #expect((900...1100).contains(first))
        down.driver.waits(1100)
        #expect(down.clientGot().filter { $0 == "x" }.count == 2000 - first && down.driver.isIdle)

        for framing in [
            "Content-Length: 2000\r\n\r\n\(body)", "Transfer-Encoding: chunked\r\n\r\n7d0\r\n\(body)\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n7d0\r\n\(body)\r\n0\r\nX-Sum: 1\r\n\r\n",
        ] {
            let up = talk(request: [Throttle(1000)])
            up.client("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\(framing)")
            up.connects()
            up.driver.waits(1000)
            let first = up.originGot().filter { $0 == "x" }.count
            #expect((900...1100).contains(first), "\(framing.prefix(20))")
            up.driver.waits(1100)
            let rest = up.originGot()
            #expect(rest.filter { $0 == "x" }.count == 2000 - first)
            #expect(rest.contains("0\r\nX-Sum: 1\r\n\r\n") == framing.contains("X-Sum"), "\(rest.suffix(40))")
            up.origin(ok)
            #expect(up.clientGot() == okForClient && up.driver.isIdle && up.record.requestBytes == 2000)
        }
    }

    @Test func oneByteASecond() {
        let talk = talk(response: [Throttle(1)])
        talk.exchange(get, ok)
        talk.driver.waits(999)
        #expect(talk.clientGot().hasSuffix("\r\n\r\n"))
        talk.driver.waits(1)
        #expect(talk.clientGot() == "o")
        talk.driver.waits(1000)
        #expect(talk.clientGot() == "k" && talk.driver.isIdle)
    }
}
