import HTTP1
import HTTPCodec
import Testing

@Suite("The server's side of a connection")
struct HTTP1ServerTests {
    /// A codec that has read that request's head.
    private func codec(_ request: String) throws -> (codec: HTTP1Server, framing: BodyFraming, used: Int) {
        var codec = HTTP1Server()
        var head = RequestHead()
        let used = try #require(try codec.readHead(Array(request.utf8).span, into: &head, limits: HeadLimits()))
        let framing = try codec.begin(head, maxTrailerBytes: 1024)
        return (codec, framing, used)
    }

    private func answer(
        _ codec: inout HTTP1Server, _ framing: BodyFraming, status: Int = 200, length: String? = nil, body: String = ""
    ) -> String {
        var head = ResponseHead(status: status, reason: "X")
        if let length { head.fields.add("Content-Length", length) }
        var out: [UInt8] = []
        codec.respond(head, framing, ResponseManner(), to: &out)
        codec.write(Array(body.utf8).span, to: &out)
        codec.end(trailers: Array("A: b\r\n".utf8), to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    @Test func framings() throws {
        var one = try codec("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(one.framing == .none && one.codec.isComplete && !one.codec.isLast)
        #expect(
            answer(&one.codec, .length(2), body: "ok") == "HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\nok")
        #expect(
            answer(&one.codec, .chunked, body: "ok")
                == "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n")
        #expect(!one.codec.isLast)
        #expect(answer(&one.codec, .untilClose, body: "ok") == "HTTP/1.1 200 X\r\nConnection: close\r\n\r\nok")
        #expect(one.codec.isLast)
    }

    @Test func theOldVersion() throws {
        var kept = try codec("GET http://a/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").codec
        #expect(
            answer(&kept, .length(2), body: "ok")
                == "HTTP/1.1 200 X\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")
        #expect(answer(&kept, .chunked, body: "ok") == "HTTP/1.1 200 X\r\nConnection: close\r\n\r\nok")
        var out: [UInt8] = []
        kept.interim(ResponseHead(status: 103, reason: "Early Hints"), via: [], to: &out)
        #expect(out.isEmpty)
        // what follows may be a body, as RFC 1945 knows it
        #expect(try codec("POST http://a/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").codec.isLast)
    }

    @Test func bodiesThatMayNotBe() throws {
        var head = try codec("HEAD http://a/ HTTP/1.1\r\nHost: a\r\n\r\n").codec
        #expect(answer(&head, .length(2), length: "2", body: "ok") == "HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n")
        #expect(answer(&head, .length(2), status: 204, length: "2") == "HTTP/1.1 204 X\r\n\r\n")
        var get = try codec("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n").codec
        #expect(answer(&get, .length(2), status: 204, length: "2", body: "ok") == "HTTP/1.1 204 X\r\n\r\n")
        #expect(
            answer(&get, .none, status: 304, length: "2", body: "ok") == "HTTP/1.1 304 X\r\nContent-Length: 2\r\n\r\n")
        #expect(get.writesNothing && !get.writesRaw && !get.isLast)
    }

    @Test func anAnswerBeforeTheBodyIsTheLast() throws {
        var one = try codec("POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
        #expect(one.framing == .length(5) && one.codec.rawBody == 5)
        #expect(answer(&one.codec, .length(0)).contains("Connection: close\r\n") && one.codec.isLast)
        one = try codec("POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
        one.codec.passed(5)
        #expect(!answer(&one.codec, .length(0)).contains("Connection") && !one.codec.isLast)
        #expect(!one.codec.awaitsHead)
        one.codec.next()
        #expect(one.codec.awaitsHead)
        var head = RequestHead()
        #expect(try one.codec.readHead([0x47].span, into: &head, limits: HeadLimits()) == nil)
    }

    /// What the one before it said of its version is nothing to the answer.
    @Test func aHeadThatIsGivenUp() throws {
        var one = try codec("HEAD http://a/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").codec
        _ = answer(&one, .length(2))
        one.next()
        one.giveUpHead()
        #expect(
            answer(&one, .chunked, status: 400, body: "no")
                == "HTTP/1.1 400 X\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\nA: b\r\n\r\n"
        )
        #expect(one.isLast && one.isComplete)
    }

    @Test func whatIsAmbiguousIsRefused() {
        for (request, code) in [
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", HTTPFault.Code.repeatedContentLength),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", .lengthWithTransferEncoding),
            ("CONNECT a:1 HTTP/1.1\r\nContent-Length: 1\r\n\r\n", .bodyNotAllowed),
        ] {
            #expect(request.isEmpty == false)
            do {
                _ = try codec(request)
                Issue.record("accepted: \(request)")
            } catch {
                #expect((error as? HTTPFault)?.code == code)
            }
        }
    }
}
