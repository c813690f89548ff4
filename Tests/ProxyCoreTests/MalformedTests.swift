import Interception
import Testing

@Suite("Malformed messages")
struct MalformedTests {
    private static let line = "GET http://a.test/ HTTP/1.1\r\n"
    private static let head = line + "Host: a.test\r\n"
    private static let chunked = "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// What is sent, the status, and the reason's name.
    static let requests: [(String, Int, String)] = [
        ("GET\r\n\r\n", 400, "badRequestLine"),
        ("GET http://a.test/\r\n\r\n", 400, "badRequestLine"),
        ("GET  http://a.test/ HTTP/1.1\r\n\r\n", 400, "badRequestLine"),
        (" GET http://a.test/ HTTP/1.1\r\n\r\n", 400, "badRequestLine"),
        ("G@T http://a.test/ HTTP/1.1\r\n\r\n", 400, "badMethod"),
        ("GET http://a.test/ HTTP/2.0\r\n\r\n", 505, "badVersion"),
        ("GET http://a.test/ http/1.1\r\n\r\n", 505, "badVersion"),
        ("GET http://a.test/#x HTTP/1.1\r\n\r\n", 400, "badTarget"),
        ("GET ftp://a.test/ HTTP/1.1\r\n\r\n", 400, "unsupportedScheme"),
        ("GET http://u:p@a.test/ HTTP/1.1\r\n\r\n", 400, "userInfoInTarget"),
        ("GET http://u@a.test/ HTTP/1.1\r\n\r\n", 400, "userInfoInTarget"),
        ("GET http:///x HTTP/1.1\r\n\r\n", 400, "badAuthority"),
        ("GET http://a..test/ HTTP/1.1\r\n\r\n", 400, "emptyLabel"),
        ("GET http://%61.test/ HTTP/1.1\r\n\r\n", 400, "percentInHost"),
        ("GET http://\u{E4}.test/ HTTP/1.1\r\n\r\n", 400, "nonASCIIHost"),
        ("GET http://[127.0.0.1]/ HTTP/1.1\r\n\r\n", 400, "badAddress"),
        ("GET http://[fe80::1%25eth0]/ HTTP/1.1\r\n\r\n", 400, "badAddress"),
        ("GET http://" + String(repeating: "a", count: 64) + ".test/ HTTP/1.1\r\n\r\n", 400, "hostTooLong"),
        ("CONNECT a.test: HTTP/1.1\r\nHost: a.test\r\n\r\n", 400, "badAuthority"),
        ("GET http://a.test:0/ HTTP/1.1\r\n\r\n", 400, "badAuthority"),
        ("GET http://a.test:65536/ HTTP/1.1\r\n\r\n", 400, "badAuthority"),
        ("CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n", 400, "badAuthority"),
        ("GET * HTTP/1.1\r\nHost: a.test\r\n\r\n", 400, "badTarget"),
        (line + "\r\n", 400, "missingHost"),
        (head + "Host: a.test\r\n\r\n", 400, "repeatedHost"),
        (line + "Host: a b\r\n\r\n", 400, "badHost"),
        (line + "Host: a..b\r\n\r\n", 400, "emptyLabel"),
        ("GET http://a.test/ HTTP/1.1\nHost: a.test\r\n\r\n", 400, "bareLineFeed"),
        (head + "X: 1\n\r\n", 400, "bareLineFeed"),
        (head + "X: 1\r2\r\n\r\n", 400, "bareCarriageReturn"),
        (head + " folded\r\n\r\n", 400, "obsoleteFolding"),
        (head + "X : 1\r\n\r\n", 400, "spaceBeforeColon"),
        (head + ": 1\r\n\r\n", 400, "badFieldName"),
        (head + "X@: 1\r\n\r\n", 400, "badFieldName"),
        (head + "X\r\n\r\n", 400, "badFieldName"),
        (head + "X: \u{0}\r\n\r\n", 400, "badFieldValue"),
        (head + "Accept: a\r\nX: \u{1}\r\n\r\n", 400, "badFieldValue"),
        (head + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "lengthWithTransferEncoding"),
        (head + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400, "repeatedContentLength"),
        (head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "repeatedContentLength"),
        (head + "Content-Length: 1, 1\r\n\r\n", 400, "badContentLength"),
        (head + "Content-Length: +1\r\n\r\n", 400, "badContentLength"),
        (head + "Content-Length: -1\r\n\r\n", 400, "badContentLength"),
        (head + "Content-Length: 0x1\r\n\r\n", 400, "badContentLength"),
        (head + "Content-Length:\r\n\r\n", 400, "badContentLength"),
        (head + "Content-Length: 99999999999999999999\r\n\r\n", 400, "badContentLength"),
        (head + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501, "unknownTransferCoding"),
        (head + "Transfer-Encoding: chunked, gzip\r\n\r\n", 501, "unknownTransferCoding"),
        (head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "repeatedTransferEncoding"),
        ("GET http://a.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "transferEncodingInHTTP10"),
        ("CONNECT a.test:1 HTTP/1.1\r\nHost: a.test:1\r\nContent-Length: 1\r\n\r\n", 400, "bodyNotAllowed"),
        (chunked + "x\r\n", 400, "badChunkSize"),
        (chunked + "0x1\r\n", 400, "badChunkSize"),
        (chunked + "-1\r\n", 400, "badChunkSize"),
        (chunked + "1 \r\n", 400, "badChunkSize"),
        (chunked + "1\n", 400, "badChunkSize"),
        (chunked + "1000000000000000\r\n", 400, "badChunkSize"),
        (chunked + "1;\r\na", 400, "badChunkExtension"),
        (chunked + "1;a=\u{1}\r\na", 400, "badChunkExtension"),
        (chunked + "1\r\nab\r\n", 400, "badChunkEnd"),
        (chunked + "1;" + String(repeating: "a", count: 5000), 400, "chunkLineTooLong"),
        (chunked + "0\r\nX : 1\r\n\r\n", 400, "spaceBeforeColon"),
        (chunked + "0\r\n X: 1\r\n\r\n", 400, "obsoleteFolding"),
    ]

    @Test(arguments: requests.indices)
    func requestsAreRefusedNeverRepaired(_ index: Int) {
        let (request, status, reason) = Self.requests[index]
        for delivery in Delivery.all {
            let talk = Conversation(delivery: delivery)
            // behind a good one, so that nothing of that may show
            talk.exchange("HEAD http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n")
            _ = talk.clientGot()
            talk.client(request)
            let got = talk.clientGot()
            #expect(talk.record.status == status && got.contains("(\(reason), byte "), "\(request) \(delivery) \(got)")
            #expect(talk.record.proxyError == "http_request_error" && got.contains("Connection: close\r\n"))
            #expect(talk.driver.client == .finished && talk.driver.records.count == 2)
            #expect(talk.driver.origin == nil && talk.driver.dialing == nil)
            // whatever follows is no request
            talk.client("\r\n\r\n" + get)
            #expect(talk.driver.records.count == 2 && talk.clientGot() == "")
        }
    }

    @Test func aChunkThatGoesWrongBehindTheAnswersHead() {
        let talk = Conversation()
        talk.client(Self.chunked + "1\r\na\r\n")
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1")
        talk.client("zz\r\n")
        #expect(talk.driver.client == .reset && talk.driver.records.count == 1 && talk.driver.releases == [false])
    }

    @Test func originFormIsNoRequestToAProxy() {
        let talk = Conversation()
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(talk.record.status == 400 && talk.clientGot().contains("HTTP_PROXY"))
        #expect(talk.driver.client == .finished && talk.driver.dials == 0)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "lengthWithTransferEncoding"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", "repeatedContentLength"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1 1\r\n\r\n", "badContentLength"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n", "unknownTransferCoding"),
        ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "transferEncodingInHTTP10"),
        ("HTTP/1.1 204 No\r\nContent-Length: 1\r\n\r\n", "bodyNotAllowed"),
        ("HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n", "bodyNotAllowed"),
        ("HTTP/1.1 103 No\r\nContent-Length: 1\r\n\r\n", "bodyNotAllowed"),
        ("HTTP/1.1 200 OK\r\nX : 1\r\n\r\n", "spaceBeforeColon"),
        ("HTTP/1.1 200 OK\r\nX: 1\r\n 2\r\n\r\n", "obsoleteFolding"),
        ("HTTP/1.1 200 OK\nX: 1\r\n\r\n", "bareLineFeed"),
        ("HTTP/1.1 99 Low\r\n\r\n", "badStatusLine"), ("HTTP/1.1 600 High\r\n\r\n", "badStatusLine"),
        ("HTTP/2 200 OK\r\n\r\n", "badVersion"), ("SSH-2.0-OpenSSH\r\n\r\n", "badVersion"),
        ("\r\nHTTP/1.1 200 OK\r\n\r\n", "badStatusLine"),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "switched protocols"),
    ])
    func answersThatBreakHTTP(_ response: String, _ reason: String) {
        for delivery in Delivery.all {
            let talk = Conversation(delivery: delivery)
            talk.client(get)
            talk.connects()
            talk.origin(response)
            #expect(talk.record.status == 502 && talk.record.proxyError == "http_protocol_error", "\(delivery)")
            #expect(talk.noted(reason), "\(talk.notes)")
            #expect(talk.driver.releases == [false] && talk.driver.isIdle)
        }
    }

    @Test(arguments: Delivery.all)
    func chunksThatBreakHTTP(_ delivery: Delivery) {
        for body in ["zz\r\n", "1\r\nab\r\n", "1;\r\na\r\n", "3\r\nabc\r\n0\r\nX : 1\r\n\r\n"] {
            let talk = Conversation(delivery: delivery)
            talk.client(get)
            talk.connects()
            talk.origin("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
            #expect(talk.driver.client == .reset && talk.driver.releases == [false])
        }
    }

    /// What an origin says behind its answer must reach nobody.
    @Test(arguments: Delivery.all)
    func bytesBehindTheAnswer(_ delivery: Delivery) {
        let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        for (request, response) in [
            (get, ok), (get, "HTTP/1.1 204 No\r\n\r\n"), (get, "HTTP/1.1 304 No\r\nContent-Length: 99\r\n\r\n"),
            (get, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
            (get, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ("HEAD http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n"),
        ] {
            let talk = Conversation(delivery: .whole)
            talk.driver.splitter = Splitter(delivery)
            talk.client(request)
            talk.connects()
            // up to the last byte of the answer in pieces, that one together with what nobody asked for
            talk.origin(String(response.dropLast(1)))
            talk.driver.originPiece(Array((response.suffix(1) + evil).utf8))
            #expect(talk.driver.releases == [false], "\(response)")
            talk.client(get)
            talk.connects()
            talk.origin(ok)
            #expect(!talk.clientGot().contains("evil"))
        }
    }

    @Test func anAnswerBeforeTheRequestIsNotTrustedFurther() {
        let talk = Conversation()
        talk.client("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\n")
        talk.connects()
        talk.origin(ok)
        #expect(talk.driver.releases == [false])
    }
}
