import HTTPCodec
import Interception
import ProxyCore
import TLSEngine
import Testing

@Suite("TLS in a tunnel")
struct SecureTunnelTests {
    private let established = "HTTP/1.1 200 Connection Established\r\n\r\n"
    private let alert: [UInt8] = [21, 3, 3, 0, 2, 2, 50]

    private func connect(_ authority: String) -> String {
        "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n"
    }

    private func policy(_ change: (inout InterceptionPolicy) -> Void = { _ in }) -> Settings {
        settings {
            $0.interception.hosts = ["a.test", "*.open.test", "b.test:8443", "10.0.0.0/8"].compactMap {
                DestinationPattern($0)
            }
            $0.interception.except = [DestinationPattern("not.open.test")].compactMap { $0 }
            change(&$0.interception)
        }
    }

    /// In the tunnel, with the client's handshake done.
    private func opened(_ authority: String = "a.test:443", name: String? = "a.test") -> Conversation {
        let talk = Conversation(policy())
        talk.client(connect(authority))
        talk.driver.fromClient(Greeting.hello(name))
        talk.driver.clientIsSecured()
        #expect(talk.clientGot() == established)
        return talk
    }

    @Test(arguments: Delivery.all)
    func aHostThatIsNamedIsOpened(_ delivery: Delivery) {
        let talk = Conversation(policy(), delivery: delivery)
        talk.client(connect("a.test:443"))
        #expect(talk.clientGot() == established && talk.driver.dialing == nil)
        let hello = Greeting.hello("a.test")
        talk.driver.fromClient(hello)
        #expect(talk.driver.securing?.name == .host("a.test") && talk.driver.securing?.hello == hello)
        talk.driver.clientIsSecured()
        #expect(
            talk.record.status == 200 && talk.record.urlText == "a.test:443" && talk.noted("opened as a.test: TLSv1.3"))
        talk.client("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(talk.driver.dialing == Origin(scheme: .https, host: "a.test", port: 443))
        talk.connects()
        #expect(talk.originGot() == "GET /x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\n\r\n")
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient && talk.record.urlText == "https://a.test/x")
        // the connection is kept for the next request, which need not be this client's
        talk.client("GET /y HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.origin(ok)
        #expect(talk.driver.dials == 1 && talk.driver.records.count == 3)
    }

    @Test(arguments: [
        ("c.test:443", "c.test"), ("not.open.test:443", "not.open.test"), ("b.test:443", "b.test"),
        ("a.test:443", "c.test"), ("a.test:443", "not.open.test"), ("192.0.2.1:443", "c.test"),
    ])
    func everythingElseIsTunnelled(_ authority: String, _ name: String) {
        let talk = Conversation(policy())
        talk.client(connect(authority))
        talk.connects()
        talk.driver.fromClient(Greeting.hello(name))
        talk.connects()
        #expect(talk.driver.securing == nil && talk.driver.isTunnel && talk.driver.dials == 1)
        #expect(talk.connection?.received == Greeting.hello(name) && talk.clientGot() == established)
    }

    @Test(arguments: [
        ("b.test:8443", nil, "b.test"), ("x.open.test:443", "x.open.test", "x.open.test"),
        ("10.1.2.3:443", nil, "10.1.2.3"),
        ("192.0.2.1:443", "a.test", "a.test"), ("c.test:443", "a.test", "a.test"), ("A.TEST:443", nil, "a.test"),
    ])
    func theNameThatTheClientAsksForDecides(_ authority: String, _ asked: String?, _ shown: String) {
        let talk = Conversation(policy())
        talk.client(connect(authority))
        talk.connects()
        talk.driver.fromClient(Greeting.hello(asked))
        #expect(talk.driver.securing?.name == .host(shown) && !talk.driver.isTunnel)
    }

    @Test func aNameUnlikeTheTunnelsGoesWhereTheTunnelLeads() {
        let talk = Conversation(policy())
        talk.client(connect("192.0.2.1:443"))
        talk.connects()
        talk.driver.fromClient(Greeting.hello("a.test"))
        talk.driver.clientIsSecured()
        #expect(talk.noted("asks for a.test (SNI) in a tunnel to 192.0.2.1:443"))
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        var wanted = Origin(scheme: .https, host: "192.0.2.1", port: 443)
        wanted.serverName = "a.test"
        #expect(talk.driver.dialing == wanted)
        talk.connects()
        talk.origin(ok)
        #expect(talk.record.urlText == "https://a.test/")
        talk.client("GET / HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n")
        #expect(talk.record.status == 421 && talk.noted("opened to a.test at 192.0.2.1:443"))
    }

    @Test func aClientThatSpeaksNothingKnownIsLeftAlone() {
        let talk = Conversation(policy())
        talk.client(connect("a.test:443"))
        talk.driver.fromClient(Greeting.hello("a.test", protocols: ["h3"]))
        talk.connects()
        talk.driver.clientEnds()
        talk.driver.originEnds()
        #expect(talk.connection?.received == Greeting.hello("a.test", protocols: ["h3"]))
        #expect(talk.noted("offers only h3 (ALPN)"))
    }

    @Test func aClientThatSpeaksHTTP2AloneIsLeftAloneWhereThatIsNotSpoken() {
        var settings = policy()
        settings.http2.clients = false
        let talk = Conversation(settings)
        talk.client(connect("a.test:443"))
        talk.driver.fromClient(Greeting.hello("a.test", protocols: ["h2"]))
        talk.connects()
        talk.driver.clientEnds()
        talk.driver.originEnds()
        #expect(talk.noted("offers only h2 (ALPN)"))
    }

    @Test func anOriginThatSpeaksFirstIsHeard() {
        let talk = Conversation(policy())
        talk.client(connect("a.test:443"))
        talk.driver.waits(1_000)
        #expect(talk.driver.dialing == Origin(scheme: .http, host: "a.test", port: 443))
        talk.connects()
        talk.origin("220 mail\r\n")
        #expect(talk.clientGot() == established + "220 mail\r\n" && talk.driver.isTunnel)
    }

    @Test func aClientThatHesitatesIsOpenedAllTheSame() {
        let talk = Conversation(policy())
        talk.client(connect("a.test:443"))
        talk.driver.waits(1_000)
        talk.connects()
        talk.driver.fromClient(Greeting.hello("a.test"))
        #expect(talk.driver.securing != nil)
        talk.driver.clientIsSecured()
        #expect(talk.driver.releases == [true])
    }

    /// Whose TLS would be opened has a second to begin.
    @Test func anOriginThatSpeaksAtOnceIsHeardAfterAWhile() {
        let talk = Conversation(policy())
        talk.driver.reachesAnew = true
        talk.client(connect("a.test:443"))
        talk.connects()
        talk.origin("220 mail\r\n")
        #expect(talk.clientGot() == established && !talk.driver.isTunnel)
        talk.driver.waits(1_000)
        #expect(talk.clientGot() == "220 mail\r\n" && talk.driver.isTunnel)
    }

    @Test func plainHTTPInATunnelThatWouldBeOpened() {
        let talk = Conversation(policy())
        talk.client(connect("a.test:80") + "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(talk.driver.dialing == Origin(scheme: .http, host: "a.test", port: 80))
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot() == established + okForClient)
    }

    // MARK: what goes wrong

    @Test func aHelloThatBreaksTLSIsAnswered() {
        let talk = Conversation(policy())
        talk.client(connect("a.test:443"))
        var hello = Greeting.hello("a.test")
        hello[43] = 0xFF
        talk.driver.fromClient(hello)
        #expect(talk.driver.isOver && Array(talk.driver.sent.suffix(7)) == alert)
        #expect(talk.record.proxyError == "tls_protocol_error" && talk.noted("the client's ClientHello breaks TLS"))
    }

    @Test func aHelloThatIsTooLarge() {
        let talk = Conversation(policy())
        talk.client(connect("a.test:443"))
        talk.driver.fromClient([22, 3, 1, 0x40, 0, 1, 0, 0x50, 0])
        #expect(
            talk.driver.isOver && Array(talk.driver.sent.suffix(7)) == alert && talk.noted("larger than 16384 bytes"))
    }

    @Test func garbageIsNobodysBusiness() {
        let talk = Conversation(policy())
        talk.client(connect("a.test:443"))
        talk.driver.fromClient([1, 2, 3, 4, 5, 6, 7, 8, 9])
        talk.connects()
        #expect(talk.driver.isTunnel && talk.connection?.received == [1, 2, 3, 4, 5, 6, 7, 8, 9])
    }

    @Test func aHelloThatDoesNotEnd() {
        let talk = Conversation(policy())
        talk.client(connect("a.test:443"))
        talk.driver.fromClient(Array(Greeting.hello("a.test").dropLast()))
        talk.driver.waits(4_999)
        #expect(!talk.driver.isOver)
        talk.driver.waits(1)
        #expect(talk.driver.isOver && talk.record.proxyError == "connection_timeout" && talk.noted("timeouts.tls"))
    }

    @Test func aHandshakeThatDoesNotEnd() {
        let talk = Conversation(policy())
        talk.client(connect("a.test:443"))
        talk.driver.fromClient(Greeting.hello("a.test"))
        talk.driver.waits(5_000)
        #expect(talk.driver.isOver && talk.record.proxyError == "connection_timeout" && talk.driver.records.count == 1)
    }

    @Test(arguments: [
        (
            TLSFault(.alert(48), "x"), "tls_alert_received",
            "refused Usher's certificate for a.test (TLS alert unknown_ca)"
        ),
        (TLSFault(.closed, "x"), "connection_terminated", "without a word; if it refused it"),
        (TLSFault(.alert(40), "it said no"), "tls_alert_received", "the client's handshake for a.test: it said no"),
        (TLSFault(.protocolError, "it lies"), "tls_protocol_error", "the client's handshake for a.test: it lies"),
        (TLSFault(.local, "too many"), "proxy_internal_error", "no handshake for a.test: too many"),
    ])
    func aHandshakeThatFails(_ fault: TLSFault, _ token: String, _ words: String) {
        let talk = Conversation(policy())
        talk.client(connect("a.test:443"))
        talk.driver.fromClient(Greeting.hello("a.test"))
        talk.driver.clientIsUnsecured(fault, hasSeen: true)
        #expect(talk.driver.isOver && talk.record.proxyError == token && talk.noted(words))
        #expect(talk.driver.records.count == 1 && talk.record.urlText == "a.test:443")
    }

    @Test func refusalsAreRememberedWhereThatIsAskedFor() {
        let memory = Refusals()
        for onRefusal in InterceptionPolicy.OnRefusal.allCases {
            let talk = Conversation(policy { $0.onRefusal = onRefusal }, refusals: memory)
            talk.client(connect("a.test:443"))
            talk.driver.fromClient(Greeting.hello("a.test"))
            talk.driver.clientIsUnsecured(TLSFault(.alert(48), "x"), hasSeen: true)
        }
        #expect(memory.events == ["refused a.test:443"])
        for (departure, words) in [
            (RefusalCounts.Departure.besideAnother, "it uses another connection"), (.unclear, "if it refused it"),
            (.refusal, "left again when it had seen Usher's certificate for a.test, and likely refused it"),
        ] {
            memory.departure = departure
            let talk = Conversation(policy(), refusals: memory)
            talk.client(connect("a.test:443"))
            talk.driver.fromClient(Greeting.hello("a.test"))
            #expect(memory.underWay == 1)
            talk.driver.clientIsUnsecured(TLSFault(.closed, "x"), hasSeen: true)
            #expect(talk.noted(words) && memory.events.removeLast() == "left a.test:443")
            #expect((talk.record.proxyError == nil) == (departure == .besideAnother))
            #expect(memory.underWay == 0)
        }
        memory.isDone = true
        let talk = Conversation(policy { $0.onRefusal = .tunnel }, refusals: memory)
        talk.client(connect("a.test:443"))
        talk.driver.fromClient(Greeting.hello("a.test"))
        talk.connects()
        #expect(talk.driver.isTunnel)
    }

    private final class Refusals: RefusalStore, @unchecked Sendable {
        // one test, one thread
        var events: [String] = []
        var isDone = false
        var departure = RefusalCounts.Departure.unclear
        private(set) var underWay = 0
        func began(_ place: ServerPlace, by client: ClientKey) { underWay += 1 }
        func ended(_ place: ServerPlace, by client: ClientKey, isDone: Bool) {
            underWay -= 1
            if isDone { note("closed", place) }
        }
        func refused(_ place: ServerPlace, by client: ClientKey) { note("refused", place) }
        func left(_ place: ServerPlace, by client: ClientKey) -> RefusalCounts.Departure {
            note("left", place)
            return departure
        }
        func accepted(_ place: ServerPlace, by client: ClientKey) { note("accepted", place) }
        func isLeftAlone(_ place: ServerPlace, for client: ClientKey) -> Bool { isDone }
        private func note(_ word: String, _ place: ServerPlace) { events.append("\(word) \(place.name):\(place.port)") }
    }

    @Test func theOriginIsReachedBeforeTheTunnelIsAnswered() {
        let talk = Conversation(policy())
        talk.driver.reachesAnew = true
        talk.client(connect("a.test:443"))
        #expect(talk.clientGot().isEmpty && talk.driver.dialing == Origin(scheme: .http, host: "a.test", port: 443))
        talk.connects()
        #expect(talk.clientGot() == established)
        talk.driver.fromClient(Greeting.hello("a.test"))
        // for the first request inside
        #expect(talk.driver.releases == [true])
        talk.driver.clientIsSecured()
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
    }

    /// One that the client has not begun to use: it may have its own reasons, and there is another for what is asked.
    @Test(arguments: ["", "\u{15}\u{3}\u{3}\0\u{2}\u{2}("])
    func anOriginThatLeavesAtOnce(_ words: String) {
        let talk = Conversation(policy())
        talk.driver.reachesAnew = true
        talk.client(connect("a.test:443"))
        talk.connects()
        talk.origin(words)
        talk.driver.originEnds()
        #expect(talk.clientGot() == established && !talk.driver.isOver)
        talk.driver.fromClient(Greeting.hello("a.test"))
        #expect(talk.driver.securing?.name == .host("a.test"))
        talk.driver.clientIsSecured()
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
    }

    /// A client that waits for the origin to speak first is heard by it after a while, and once.
    @Test func anOriginThatLeavesAgain() {
        let talk = Conversation(policy())
        talk.driver.reachesAnew = true
        talk.client(connect("a.test:443"))
        talk.connects()
        talk.driver.originEnds()
        talk.driver.waits(1_000)
        #expect(talk.driver.dials == 2)
        talk.connects()
        talk.driver.originEnds()
        #expect(talk.driver.isOver)
    }

    @Test(arguments: [
        (LeaseFailure.refused("no"), 502, "connection_refused"), (.unresolvable("no"), 502, "dns_error"),
        (.timedOut, 504, "connection_timeout"),
    ])
    func anOriginThatIsNotThere(_ failure: LeaseFailure, _ status: Int, _ token: String) {
        let talk = Conversation(policy())
        talk.driver.reachesAnew = true
        talk.client(connect("a.test:443"))
        talk.driver.dialFails(failure)
        #expect(talk.record.status == status && talk.record.proxyError == token)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 \(status) ") && talk.driver.client == .finished)
    }

    /// Who answers in its place needs none.
    @Test func anOriginThatNeedNotBeThere() {
        for host in ["a.test", "x.open.test", "10.0.0.1"] {
            let talk = Conversation(
                settings {
                    $0.interception.hosts = [DestinationPattern("*")].compactMap { $0 }
                    $0.rules = [
                        .init(
                            name: "mock", when: .test(.host, [.exact("a.test")]),
                            request: [Respond(DirectResponse(status: 200))])
                    ]
                })
            talk.driver.reachesAnew = true
            talk.client(connect("\(host):443"))
            // behind an address there may be any host
            #expect((talk.clientGot() == established) == (host != "x.open.test"), "\(host)")
        }
    }

    @Test(arguments: [
        (TLSFault(.certificate, "its certificate expired"), "tls_certificate_error"),
        (TLSFault(.alert(70), "x"), "tls_alert_received"),
        (TLSFault(.protocolError, "x"), "tls_protocol_error"), (TLSFault(.closed, "x"), "tls_protocol_error"),
    ])
    func anOriginWithoutTLS(_ fault: TLSFault, _ token: String) {
        let talk = opened()
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.driver.dialFails(.insecure(fault))
        #expect(talk.record.status == 502 && talk.record.proxyError == token)
        let answer = talk.clientGot()
        #expect(answer.contains("no TLS with a.test:443: \(fault.words)"))
        if case .alert = fault.kind {
            #expect(
                answer.contains("; alert-id=70; alert-message=\"protocol_version\"")
                    && answer.contains("tls.upstream.minimum"))
        }
        // the client may ask for something else
        #expect(!talk.driver.isOver)
    }

    @Test func anOriginThatDoesNotFinishItsHandshake() {
        let talk = opened()
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.driver.waits(4_000)
        talk.driver.dialSecures()
        talk.driver.waits(4_999)
        #expect(talk.driver.dialing != nil)
        talk.driver.waits(1)
        #expect(talk.record.status == 504 && talk.noted("did not finish the TLS handshake within timeouts.tls"))
    }
}
