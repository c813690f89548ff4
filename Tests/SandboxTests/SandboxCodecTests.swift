import HTTPCodec
import Testing

@testable import Sandbox

@Suite("What the sandbox reads and writes")
struct SandboxCodecTests {
    /// The answer to that request, and whether it is the last.
    private func answer(_ request: String, _ response: SandboxResponse) throws -> (text: String, ends: Bool) {
        var codec = SandboxCodec(maxBody: 100, scheme: .http)
        var input = Array(request.utf8)
        if case .needsMore = codec.next(&input) { throw Unanswered() }
        let answer = codec.answer(response, now: 0)
        let text = String(decoding: answer.message, as: UTF8.self)
        let date = "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nServer: usher-sandbox\r\n"
        #expect(text.contains(date))
        return (text.replacing(date, with: ""), answer.ends)
    }

    private struct Unanswered: Error {}

    private func head(_ method: String, _ version: String = "1.1", _ more: String = "") -> String {
        "\(method) / HTTP/\(version)\r\nHost: a\r\n\(more)\r\n"
    }

    private let ok = SandboxResponse(200, note: "", fields: [("A", "b")], body: .bytes([0x6F, 0x6B]))
    private let chunked = SandboxResponse(200, note: "", body: .chunked(Array("hello".utf8), size: 2))
    private let endless = SandboxResponse(200, note: "", body: .untilClose(Array("hello".utf8)))

    @Test func bodies() throws {
        #expect(
            try answer(head("GET"), ok) == ("HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\n\r\nok", false))
        #expect(
            try answer(head("GET"), chunked)
                == (
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n2\r\nll\r\n1\r\no\r\n0\r\n\r\n",
                    false
                ))
        #expect(
            try answer(head("GET"), endless) == ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", true))
        #expect(
            try answer(head("GET"), SandboxResponse(200, note: "")) == (
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false
            ))
    }

    @Test func theOldVersion() throws {
        #expect(
            try answer(head("GET", "1.0", "Connection: keep-alive\r\n"), ok)
                == ("HTTP/1.1 200 OK\r\nA: b\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", false))
        #expect(
            try answer(head("GET", "1.0", "Connection: keep-alive\r\n"), chunked)
                == ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", true))
    }

    @Test func noBodies() throws {
        #expect(
            try answer(head("HEAD"), ok) == ("HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\n\r\n", false))
        for status in [204, 304] {
            for method in ["GET", "HEAD"] {
                let found = try answer(head(method), SandboxResponse(status, note: "", body: .bytes([0x61])))
                #expect(found == ("HTTP/1.1 \(status) \(ReasonPhrase.of(status))\r\n\r\n", false))
            }
        }
    }

    @Test func whatIsRefusedIsAnsweredInFullAndLast() throws {
        let end = "\r\nA: b\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
        for request in [
            "HEAD / HTTP/1.1\r\n\r\n", head("HEAD", "1.1", "Content-Length: 101\r\n"),
            "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
            head("POST", "1.1", "Expect: more\r\nContent-Length: 1\r\n"),
            head("POST", "1.1", "Transfer-Encoding: chunked\r\n") + "x",
        ] {
            #expect(try answer(request, ok) == ("HTTP/1.1 200 OK" + end, true))
        }
    }

    @Test func requestsFollowOneAnother() throws {
        var codec = SandboxCodec(maxBody: 100, scheme: .https)
        var input = Array((head("PUT", "1.1", "Content-Length: 2\r\n") + "ok" + head("GET")).utf8)
        for (method, body) in [("PUT", "ok"), ("GET", "")] {
            guard case .request(let request) = codec.next(&input) else { throw Unanswered() }
            #expect(request.head.methodText == method && request.head.url == "https://a/")
            #expect(String(decoding: request.body, as: UTF8.self) == body)
            #expect(!codec.answer(ok, now: 0).ends)
        }
        guard case .needsMore = codec.next(&input), input.isEmpty else { throw Unanswered() }
    }

    @Test func whoWaitsIsToldToGoOn() throws {
        var codec = SandboxCodec(maxBody: 100, scheme: .http)
        var input = Array(head("POST", "1.1", "Expect: 100-continue\r\nContent-Length: 2\r\n").utf8)
        guard case .expectsContinue = codec.next(&input) else { throw Unanswered() }
        #expect(String(decoding: codec.goOn(), as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
        input = Array("ok".utf8)
        guard case .request(let request) = codec.next(&input) else { throw Unanswered() }
        #expect(request.body == Array("ok".utf8))
    }
}
