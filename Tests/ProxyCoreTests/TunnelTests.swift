import HTTPCodec
import Interception
import ProxyCore
import Testing

@Suite("CONNECT")
struct TunnelTests {
    private let connect = "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"
    private let established = "HTTP/1.1 200 Connection Established\r\n\r\n"

    @Test(arguments: Delivery.all)
    func bytesThatNobodyReads(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(connect)
        #expect(talk.driver.dialing == Origin(scheme: .http, host: "a.test", port: 443))
        talk.connects()
        #expect(talk.clientGot() == established)
        talk.client("\u{16}\u{3}\u{1}hello")
        talk.origin("\u{16}\u{3}\u{3}world")
        talk.client("more")
        #expect(talk.originGot() == "\u{16}\u{3}\u{1}hellomore" && talk.clientGot() == "\u{16}\u{3}\u{3}world")
        #expect(talk.driver.isTunnel && talk.driver.records.isEmpty)
        talk.driver.clientEnds()
        talk.origin("last")
        #expect(talk.clientGot() == "last")
        talk.driver.originEnds()
        #expect(talk.driver.client == .closed && talk.driver.releases == [false])
        #expect(talk.record.requestBytes == 12 && talk.record.responseBytes == 12 && talk.record.status == 200)
        #expect(talk.record.urlText == "a.test:443" && talk.driver.records.count == 1)
    }

    @Test(arguments: Delivery.all)
    func firstBytesTogetherWithConnect(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(connect + "\u{16}\u{3}\u{1}hello")
        talk.connects()
        talk.client("!")
        #expect(talk.originGot() == "\u{16}\u{3}\u{1}hello!" && talk.clientGot() == established)
    }

    @Test("Bytes after a refused CONNECT are not read as a request")
    func bytesBehindARefusal() {
        let early = "POST http://b.test/ HTTP/1.1\r\nHost: b.test\r\nContent-Length: 0\r\n\r\n"
        for (settings, status) in [(settings { $0.routes.connectPorts = [8443] }, 403), (PasswordTests.asking, 407)] {
            let talk = Conversation(settings)
            talk.client(connect + early)
            let got = talk.clientGot()
            #expect(got.hasPrefix("HTTP/1.1 \(status) ") && got.contains("\r\nConnection: close\r\n"))
            #expect(got.split(separator: "HTTP/1.1 ").count == 1 && talk.driver.dialing == nil)
            #expect(talk.driver.records.count == 1)
        }
    }

    @Test(arguments: Delivery.all)
    func theServerSpeaksFirst(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client(connect)
        talk.connects()
        talk.client("GE")
        talk.origin("220 mail\r\n")
        talk.client("HLO\r\n")
        #expect(talk.clientGot() == established + "220 mail\r\n" && talk.originGot() == "GEHLO\r\n")
        #expect(talk.driver.isTunnel)
    }

    @Test(arguments: Delivery.all)
    func plainHTTPInside(_ delivery: Delivery) {
        let talk = Conversation(delivery: delivery)
        talk.client("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n")
        let first = talk.connects()
        #expect(talk.clientGot() == established)
        talk.client(
            "GET /x?q HTTP/1.1\r\nHost: a.test\r\n\r\nPOST /y HTTP/1.1\r\nHost: A.test:80\r\nContent-Length: 2\r\n\r\nhi"
        )
        #expect(talk.connection === first && talk.driver.dials == 1)
        talk.origin(ok)
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient + okForClient)
        #expect(
            talk.originGot() == "GET /x?q HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\n\r\n"
                + "POST /y HTTP/1.1\r\nHost: A.test:80\r\nVia: 1.1 usher\r\nContent-Length: 2\r\n\r\nhi")
        #expect(talk.driver.records.map(\.urlText) == ["http://a.test/x?REDACTED", "http://A.test:80/y"])
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: b.test\r\n\r\n", 421), ("GET / HTTP/1.1\r\nHost: a.test:81\r\n\r\n", 421),
        ("GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", 421), ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a.test\r\nHost: a.test\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a.test\r\n\r\nCONNECT b.test:80 HTTP/1.1\r\nHost: b.test:80\r\n\r\n", 400),
    ])
    func requestsThatDoNotBelongInside(_ request: String, _ status: Int) {
        let talk = Conversation()
        talk.client("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n")
        talk.connects()
        talk.client(request)
        if request.contains("CONNECT") { talk.origin(ok) }
        #expect(talk.record.status == status && talk.driver.client == .finished)
        #expect(talk.driver.origin == nil)
    }

    @Test func theLogTellsWhatWasMisdirected() {
        let talk = Conversation()
        talk.client("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n")
        talk.connects()
        talk.client("GET /x?token=y HTTP/1.1\r\nHost: b.test\r\n\r\n")
        #expect(talk.record.status == 421 && talk.record.urlText == "http://b.test/x?token=REDACTED")
    }

    @Test func inATunnelTheTargetWinsOverHostToo() {
        let talk = Conversation()
        talk.client("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n")
        talk.connects()
        talk.client("GET http://a.test/p HTTP/1.1\r\nHost: b.test\r\n\r\n")
        #expect(talk.originGot() == "GET /p HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\n\r\n")
    }

    @Test func noConnection() {
        let talk = Conversation()
        talk.client(connect + "\u{16}\u{3}\u{1}hello")
        talk.driver.dialFails(.refused("Connection refused"))
        #expect(talk.record.status == 502 && talk.record.proxyError == "connection_refused")
        // what was meant for the tunnel must not be read as a request
        #expect(talk.driver.client == .finished && talk.driver.records.count == 1)
        #expect(talk.clientGot().contains("Connection: close\r\n"))
    }

    @Test func aBodyOnConnectIsRefused() {
        for field in ["Content-Length: 5", "Transfer-Encoding: chunked", "Content-Length: 1\r\nContent-Length: 1"] {
            let talk = Conversation()
            talk.client("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\(field)\r\n\r\nhello")
            #expect(talk.record.status == 400 && talk.driver.dialing == nil && talk.driver.client == .finished)
        }
        let talk = Conversation()
        talk.client("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nContent-Length: 0\r\n\r\n")
        #expect(talk.driver.dialing != nil)
    }

    @Test func eitherSideGoesAwayBeforeAWord() {
        let talk = Conversation()
        talk.client(connect)
        talk.connects()
        talk.driver.originEnds()
        #expect(talk.driver.client == .closed && talk.driver.records.count == 1)
        for stage in 0..<2 {
            let talk = Conversation()
            talk.client(connect)
            if stage == 1 { talk.connects() }
            talk.driver.clientEnds()
            #expect(talk.driver.client == .closed && talk.driver.dialing == nil && talk.driver.origin == nil)
            #expect(talk.driver.records.count == 1)
        }
    }

    /// Two bytes tell nothing, but they are all that it had to say.
    @Test func aClientThatSaysLittleAndClosesItsSide() {
        let talk = Conversation()
        talk.client(connect)
        talk.connects()
        talk.client("GE")
        talk.driver.clientEnds()
        #expect(talk.originGot() == "GE" && talk.driver.isTunnel)
        talk.origin("answer")
        #expect(talk.clientGot() == established + "answer")
        talk.driver.originEnds()
        #expect(talk.driver.client == .closed && talk.record.requestBytes == 2 && talk.record.responseBytes == 6)
    }

    /// Its TLS would be opened, but it speaks something else: the origin is connected to only now.
    @Test(arguments: ["EHLO a.test\r\n", "GE"])
    func aClientThatClosesItsSideBeforeTheOriginIsConnected(_ words: String) {
        let talk = Conversation(settings { $0.interception.hosts = ["a.test"].compactMap { DestinationPattern($0) } })
        talk.client(connect)
        #expect(talk.clientGot() == established && talk.driver.dialing == nil)
        talk.client(words)
        talk.driver.clientEnds()
        #expect(talk.driver.client == .open && talk.driver.dialing != nil)
        talk.connects()
        talk.origin("answer")
        #expect(talk.originGot() == words && talk.clientGot() == "answer")
        talk.driver.originEnds()
        #expect(talk.driver.client == .closed && talk.driver.records.count == 1)
    }

    /// A connection that never comes does not keep it for ever.
    @Test func suchAClientIsLetGoOfInTime() {
        let talk = Conversation(settings { $0.interception.hosts = ["a.test"].compactMap { DestinationPattern($0) } })
        talk.client(connect + "EHLO a.test\r\n")
        talk.driver.clientEnds()
        talk.driver.dialFails(.timedOut)
        #expect(talk.driver.isOver && talk.record.proxyError == "connection_timeout")
    }

    @Test func oneSideEndsThenTheOther() {
        let talk = Conversation()
        talk.client(connect + "\u{16}")
        talk.connects()
        talk.driver.originEnds()
        #expect(talk.driver.client == .finished)
        talk.client("x")
        talk.driver.clientEnds()
        #expect(talk.driver.client == .closed && talk.driver.records.count == 1)
    }
}
