import Interception
import ProxyCore
import Testing

/// Every limit at its value and one past it.
@Suite("Limits")
struct LimitTests {
    private func status(_ request: String, _ settings: Settings) -> Int {
        let talk = Conversation(settings)
        talk.client(request)
        if talk.driver.dialing != nil {
            talk.connects()
            talk.origin(ok)
        }
        return talk.record.status
    }

    private func padded(_ total: Int) -> String {
        let start = "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX: "
        return start + String(repeating: "x", count: total - start.utf8.count - 4) + "\r\n\r\n"
    }

    @Test func header() {
        let limits = settings { $0.limits.header = 1000 }
        #expect(status(padded(1000), limits) == 200)
        #expect(status(padded(1001), limits) == 431)
    }

    @Test func headerFields() {
        let limits = settings { $0.limits.headerFields = 3 }
        #expect(status("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nA: 1\r\nB: 2\r\n\r\n", limits) == 200)
        #expect(status("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", limits) == 431)
    }

    @Test func url() {
        let limits = settings { $0.limits.url = 100 }
        let path = String(repeating: "p", count: 100 - "http://a.test/".count)
        #expect(status("GET http://a.test/\(path) HTTP/1.1\r\nHost: a.test\r\n\r\n", limits) == 200)
        #expect(status("GET http://a.test/\(path)p HTTP/1.1\r\nHost: a.test\r\n\r\n", limits) == 414)
    }

    @Test(arguments: Delivery.all)
    func body(_ delivery: Delivery) {
        let limits = settings { $0.limits.body = 10 }
        let head = "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
        for (framing, fits) in [
            ("Content-Length: 10\r\n\r\n0123456789", true), ("Content-Length: 11\r\n\r\n0123456789x", false),
            ("Transfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n", true),
            ("Transfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n7\r\n456789x\r\n0\r\n\r\n", false),
        ] {
            let talk = Conversation(limits, delivery: delivery)
            talk.client(head + framing)
            talk.connects()
            talk.origin(ok)
            #expect(talk.record.status == (fits ? 200 : 413))
            #expect((talk.driver.client == .finished) == !fits)
            // the origin must not take the request for complete
            let got = talk.originGot()
            if !fits { #expect(!got.contains("x") && !got.hasSuffix("0\r\n\r\n"), "\(got)") }
        }
    }

    @Test func aKeptBody() {
        var limits = stepUpSettings()
        limits.limits.body = 10
        let head = "POST http://shop.test/api/ HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(status(head + "a\r\n0123456789\r\n0\r\n\r\n", limits) == 200)
        #expect(status(head + "b\r\n0123456789x\r\n0\r\n\r\n", limits) == 413)
    }

    @Test func trailersOfBothSides() {
        let limits = settings { $0.limits.header = 200 }
        func trailer(_ count: Int) -> String { "0\r\nX: " + String(repeating: "x", count: count - 3) + "\r\n\r\n" }
        let head = "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(status(head + trailer(200), limits) == 200)
        #expect(status(head + trailer(201), limits) == 431)
        for (size, state) in [(200, DriverModel.ClientState.open), (201, .reset)] {
            let talk = Conversation(limits)
            talk.exchange(get, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + trailer(size))
            #expect(talk.driver.client == state)
        }
    }

    @Test func theOriginsHead() {
        let limits = settings { $0.limits.header = 100 }
        func response(_ total: Int) -> String {
            let start = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: "
            return start + String(repeating: "x", count: total - start.utf8.count - 4) + "\r\n\r\n"
        }
        for (size, expected) in [(100, 200), (101, 502)] {
            let talk = Conversation(limits)
            talk.exchange(get, response(size))
            #expect(talk.record.status == expected)
        }
    }

    @Test func tooManyConnections() {
        for (refusal, key) in [
            (ClientShares.Refusal.all, "limits.connections"), (.client, "limits.per_client"),
        ] {
            let text = String(decoding: refusal.response, as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 503 ") && text.contains("error=connection_limit_reached"))
            #expect(text.contains("Connection: close\r\n") && text.contains(key))
        }
    }
}
