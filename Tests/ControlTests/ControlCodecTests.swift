import Control
import Formats
import Testing

@Suite("Requests to the daemon")
struct ControlCodecTests {
    private func event(_ text: String) -> ControlCodec.Event {
        var codec = ControlCodec()
        var position = 0
        return codec.next(Array(text.utf8), &position, now: 0)
    }

    private func refusal(_ text: String) -> Int? {
        if case .refused(let problem) = event(text) { problem.status } else { nil }
    }

    @Test func aRequestComesWhole() throws {
        var codec = ControlCodec()
        let text = "POST /v1/a%20b/c?x=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}GET"
        var input: [UInt8] = []
        var position = 0
        for byte in text.utf8.dropLast(4) {
            input.append(byte)
            guard case .needsMore = codec.next(input, &position, now: 7) else { throw Odd() }
        }
        input += Array("}GET".utf8)
        guard case .request(let request) = codec.next(input, &position, now: 7) else { throw Odd() }
        #expect(request.method == "POST" && request.path == ["v1", "a b", "c"] && request.body == Array("{}".utf8))
        #expect(request.now == 7 && input[position...] == Array("GET".utf8)[...])
        let (message, ends) = codec.answer(ControlAnswer(.object([])), time: 0)
        #expect(String(decoding: message, as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\n") && !ends)
    }

    private struct Odd: Error {}

    @Test func pagesAndOtherNamesAreTurnedAway() {
        #expect(refusal("GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n") == 403)
        #expect(refusal("GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: none\r\n\r\n") == 403)
        #expect(refusal("GET / HTTP/1.1\r\nHost: attacker.test\r\n\r\n") == 421)
        #expect(refusal("GET http://usher.proxy/ HTTP/1.1\r\nHost: usher.proxy\r\n\r\n") == 421)
        #expect(refusal("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n") == 405)
        #expect(refusal("GET / HTTP/1.1\r\n\r\n") == 400)
        #expect(refusal("GET / HTTP/1.1\r\nHost: usher\r\n\r\n") == nil)
    }

    @Test func allThatIsNamedIsTheListener() {
        let door = ControlDoor.network(
            .init(address: "127.0.0.1", port: 3130, token: ControlToken(Array("0123456789abcdef".utf8))))
        func status(_ target: String, _ host: String, _ origin: String?) -> Int? {
            var codec = ControlCodec(door)
            var position = 0
            let page = origin.map { "Origin: \($0)\r\n" } ?? ""
            let text =
                "GET \(target)/ HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer 0123456789abcdef\r\n\(page)\r\n"
            guard case .refused(let problem) = codec.next(Array(text.utf8), &position, now: 0) else { return nil }
            return problem.status
        }
        let own = "127.0.0.1:3130"
        #expect(status("", own, nil) == nil && status("", own, "http://\(own)") == nil)
        #expect(status("http://\(own)", own, "http://\(own)") == nil && status("", "localhost:1", nil) == nil)
        #expect(status("http://\(own)", "evil.test", nil) == 421 && status("http://evil.test", own, nil) == 421)
        #expect(status("", "127.0.0.1:1", "http://127.0.0.1:1") == 403)
        #expect(status("http://\(own)", "127.0.0.1:1", "http://\(own)") == 403)
        #expect(status("", own, "http://localhost:3130") == 403 && status("", own, "https://\(own)") == 403)
        #expect(refusal("GET http://localhost/ HTTP/1.1\r\nHost: evil.test\r\n\r\n") == 421)
    }

    @Test func everythingHasALimit() {
        let host = "Host: localhost\r\n"
        #expect(refusal("POST / HTTP/1.1\r\n\(host)Content-Length: \(ControlLimits.body + 1)\r\n\r\n") == 413)
        #expect(
            refusal(
                "POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n\(String(ControlLimits.body + 1, radix: 16))\r\n"
                    + String(repeating: "x", count: ControlLimits.body + 1) + "\r\n0\r\n\r\n") == 413)
        #expect(refusal("GET / HTTP/1.1\r\n\(host)X: \(String(repeating: "x", count: 9000))\r\n\r\n") == 431)
        #expect(refusal("GET /\(String(repeating: "x", count: 5000)) HTTP/1.1\r\n\(host)\r\n") == 414)
        var codec = ControlCodec()
        #expect(codec.timedOut().status == 408)
        #expect(codec.answer(codec.timedOut().answer, time: 0).ends)
    }

    @Test func whoWaitsForWordHearsIt() throws {
        var codec = ControlCodec()
        let input = Array(
            "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n".utf8)
        var position = 0
        guard case .expectsContinue = codec.next(input, &position, now: 0) else { throw Odd() }
        #expect(String(decoding: codec.goOn(), as: UTF8.self).hasPrefix("HTTP/1.1 100"))
        guard case .request = codec.next(input + Array("{}".utf8), &position, now: 0) else { throw Odd() }
    }
}
