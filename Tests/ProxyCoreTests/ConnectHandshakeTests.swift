import HTTPCodec
import ProxyCore
import Testing

@Suite("Tunnels through an upstream proxy")
struct ConnectHandshakeTests {
    private func handshake(_ limit: Int = 4096, to host: String = "a.test") -> ConnectHandshake {
        let engine = Engine(settings { $0.limits.header = limit }, pseudonym: "me")
        return ConnectHandshake(
            to: Origin(scheme: .http, host: host, port: 443), by: UpstreamProxy(host: "proxy.test", port: 80), engine)
    }

    @Test func theQuestion() throws {
        #expect(
            String(decoding: handshake().request, as: UTF8.self)
                == "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nVia: 1.1 me\r\n\r\n")
        #expect(String(decoding: handshake(to: "::1").request, as: UTF8.self).hasPrefix("CONNECT [::1]:443 HTTP/1.1"))
        let proxy = try #require(UpstreamProxy("http://Aladdin:open%20sesame@proxy.test"))
        let asked = ConnectHandshake(to: Origin(scheme: .http, host: "a.test", port: 1), by: proxy, Engine(Settings()))
        #expect(
            String(decoding: asked.request, as: UTF8.self)
                == "CONNECT a.test:1 HTTP/1.1\r\nHost: a.test:1\r\nVia: 1.1 usher\r\n"
                + "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n")
    }

    /// In two pieces, cut at every place: the outcome, and where the tunnel begins in the whole.
    private func outcomes(_ text: String) -> Set<String> {
        let bytes = Array(text.utf8)
        return Set(
            (0...bytes.count).map { cut in
                var handshake = handshake()
                var last = ConnectHandshake.Outcome.needsMore
                for (start, piece) in [(0, Array(bytes[..<cut])), (cut, Array(bytes[cut...]))] {
                    guard last == .needsMore else { break }
                    last = handshake.received(piece.span)
                    if case .established(let position) = last { last = .established(at: start + position) }
                }
                return "\(last)"
            })
    }

    @Test(arguments: [
        "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200 OK\r\nServer: x\r\n\r\n",
        "HTTP/1.1 204\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ])
    func success(_ head: String) {
        #expect(outcomes(head) == ["established(at: \(head.utf8.count))"])
        // what comes out of the tunnel at once
        #expect(outcomes(head + "220 mail\r\n\r\n") == ["established(at: \(head.utf8.count))"])
    }

    @Test(arguments: [403, 407, 301, 500, 101])
    func refusal(_ status: Int) {
        #expect(
            outcomes("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno") == ["refused(status: \(status))"])
    }

    @Test(arguments: [
        "SSH-2.0-x\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}",
    ])
    func noHTTP(_ text: String) {
        let found = outcomes(text)
        #expect(found.count == 1 && found.first?.hasPrefix("broken(") == true, "\(found)")
    }

    @Test func unfinished() { #expect(outcomes("HTTP/1.1 200 OK\r\nA: b\r\n") == ["needsMore"]) }

    @Test func endlessHeadsAndEndlessInterimsEnd() {
        var large = handshake(1000)
        #expect(large.received(Array("HTTP/1.1 200 OK\r\nA: ".utf8).span) == .needsMore)
        guard case .broken = large.received([UInt8](repeating: 0x61, count: 1000).span) else {
            Issue.record("a head without end")
            return
        }
        var patient = handshake()
        let interim = Array("HTTP/1.1 102 Wait\r\n\r\n".utf8)
        for _ in 0..<8 { #expect(patient.received(interim.span) == .needsMore) }
        #expect(patient.received(interim.span) == .refused(status: 102))
    }
}
