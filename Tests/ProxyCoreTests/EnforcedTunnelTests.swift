import Authorization
import Testing

@testable import ProxyCore

@Suite("Tunnels to enforced resources")
struct EnforcedTunnelTests {
    private let established = "HTTP/1.1 200 Connection Established\r\n\r\n"

    private func settings(_ urls: [String], opened: [String] = []) -> Settings {
        var settings = Enforced.settings({ policy in
            policy.resources = urls.map {
                var resource = AuthorizationPolicy.Resource(url: $0)
                resource.isEnforced = true
                return resource
            }
        })
        settings.interception.hosts = opened.compactMap { DestinationPattern($0) }
        settings.interception.onRefusal = .tunnel
        return settings
    }

    private func connect(_ authority: String) -> String {
        "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n"
    }

    @Test(arguments: [
        (["https://a.test/*"], "a.test:443", true), (["https://A.test/x"], "a.TEST:443", true),
        (["https://*.test/*"], "b.test:443", true), (["*"], "b.test:8443", true),
        (["https://a.test:8443/*"], "a.test:8443", true), (["https://[2001:db8::1]/*"], "[2001:db8::1]:443", true),
        (["https://a.test:8443/*"], "a.test:443", false), (["https://a.test/*"], "b.test:443", false),
        (["http://a.test/*"], "a.test:443", false), (["http://a.test/*"], "a.test:80", false),
    ])
    func whatStaysClosedIsRefused(_ urls: [String], _ authority: String, _ isRefused: Bool) {
        let talk = Conversation(settings(urls))
        talk.client(connect(authority))
        guard isRefused else { return #expect(talk.driver.dialing != nil) }
        let got = talk.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 403 ") && got.contains("tls.intercept"), "\(got)")
        #expect(talk.driver.dialing == nil && talk.driver.dials == 0)
    }

    /// Bytes that are neither TLS that is opened nor requests as everybody writes them go nowhere.
    @Test(arguments: [
        "get /a HTTP/1.1\r\nHost: a.test\r\n\r\n", "\r\nGET / HTTP/1.1\r\n\r\n", "PURGE /a HTTP/1.1\r\n\r\n",
    ])
    func oddBytesGoNowhere(_ bytes: String) {
        for urls in [["http://a.test/*"], ["http://*/*"]] {
            let talk = Conversation(settings(urls))
            talk.client(connect("a.test:80"))
            talk.connects()
            talk.client(bytes)
            #expect(talk.originGot().isEmpty && talk.driver.client != .open, "\(talk.notes)")
            #expect(talk.noted("name the host in tls.intercept"))
        }
    }

    @Test func requestsInsideAreAskedAbout() {
        let talk = Conversation(settings(["http://a.test/*"]), decisions: Decisions())
        talk.client(connect("a.test:80"))
        talk.connects()
        _ = talk.clientGot()
        talk.client("GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(talk.clientGot().contains("carries no session") && talk.originGot().isEmpty)
    }

    @Test func anOriginThatSpeaksFirst() {
        let talk = Conversation(settings(["http://a.test/*"]))
        talk.client(connect("a.test:80"))
        talk.connects()
        talk.origin("220 hello\r\n")
        #expect(talk.clientGot() == established && talk.driver.client != .open)
    }

    /// Neither another name, nor another protocol, nor bytes of another kind lead around it.
    @Test(arguments: [
        ("a.test:443", Greeting.hello("other.test")), ("a.test:443", Greeting.hello("a.test", protocols: ["h3"])),
        ("a.test:443", Array("SSH-2.0-x\r\n".utf8)), ("192.0.2.1:443", Greeting.hello("a.test", protocols: ["h3"])),
    ])
    func whatIsOpenedIsNotLeftAlone(_ authority: String, _ bytes: [UInt8]) {
        let talk = Conversation(settings(["https://a.test/*"], opened: ["a.test"]))
        talk.client(connect(authority))
        if talk.driver.dialing != nil { talk.connects() }
        talk.driver.fromClient(bytes)
        #expect(talk.driver.client != .open && !talk.driver.isTunnel, "\(talk.notes)")
        #expect(talk.originGot().isEmpty && talk.noted("need a decision of AM"))
    }

    // MARK: hosts of other names

    private func tunnel(to authority: String, _ change: (inout Settings) -> Void = { _ in }) -> Conversation {
        var settings = settings(["https://a.test/*"])
        change(&settings)
        let talk = Conversation(settings)
        talk.client(connect(authority))
        if talk.driver.dialing != nil { talk.connects() }
        _ = talk.clientGot()
        return talk
    }

    /// What servers pass over before a ClientHello, and versions of records that they do not look at.
    @Test(
        arguments: [
            [21, 3, 1, 0, 2, 1, 112], [21, 3, 3, 0, 2, 1, 90, 21, 3, 3, 0, 2, 1, 90], [20, 3, 3, 0, 1, 1],
            [22, 3, 1, 0, 0],
            [23, 3, 1, 0, 0], [24, 3, 1, 0, 3, 1, 0, 0], [22, 0, 0], [22, 2, 1], [22, 3, 1, 0, 4, 0, 0, 0, 0],
        ] as [[UInt8]])
    func whatStandsBeforeAHelloEndsTheConnection(_ bytes: [UInt8]) {
        for opened in [[], ["*"]] {
            for authority in ["192.0.2.1:443", "b.test:443"] {
                let talk = tunnel(to: authority) {
                    $0.interception.hosts = opened.compactMap { DestinationPattern($0) }
                }
                talk.driver.fromClient(bytes + Greeting.hello("a.test"))
                #expect(talk.driver.client != .open && !talk.driver.isTunnel, "\(talk.notes)")
                #expect(talk.originGot().isEmpty && Array(talk.driver.sent.suffix(7)) == [21, 3, 3, 0, 2, 2, 50])
            }
        }
    }

    /// Byte by byte, and with an end behind some of it.
    @Test func piecesOfAHelloGoNowhere() {
        let hello = Greeting.hello("a.test")
        for count in [1, 2, 5, 20] {
            let talk = tunnel(to: "b.test:443")
            for byte in hello.prefix(count) { talk.driver.fromClient([byte]) }
            #expect(talk.driver.client == .open && talk.originGot().isEmpty)
            talk.driver.clientEnds()
            #expect(talk.driver.isOver && talk.originGot().isEmpty, "\(count) bytes")
        }
        let talk = tunnel(to: "b.test:443")
        for byte in [21, 3, 1] as [UInt8] { talk.driver.fromClient([byte]) }
        #expect(talk.driver.client != .open && talk.originGot().isEmpty)
    }

    /// Neither a request nor TLS: it waits for a word of the server's.
    @Test(arguments: [
        "SSH-2.0-x\r\n", "PROPFIND / HTTP/1.1\r\n", "\r\nGET / HTTP/1.1\r\n", "CONNECT a.test:443 HTTP/1.1\r\n\r\n",
        "\u{1}\u{2}",
    ])
    func whatNobodyReadsWaitsForTheServer(_ words: String) {
        let talk = tunnel(to: "b.test:443")
        talk.client(words)
        #expect(talk.originGot().isEmpty && talk.driver.client == .open && !talk.driver.isTunnel)
        talk.driver.waits(1_000)
        #expect(talk.driver.client != .open && talk.originGot().isEmpty)
        #expect(talk.noted("its server does not speak first"), "\(talk.notes)")

        let greeted = tunnel(to: "b.test:443")
        greeted.client(words)
        greeted.origin("SSH-2.0-y\r\n")
        #expect(greeted.driver.isTunnel && greeted.originGot() == words && greeted.clientGot() == "SSH-2.0-y\r\n")
        // at another port nothing is enforced
        let other = tunnel(to: "b.test:22")
        other.client(words)
        #expect(other.driver.isTunnel && other.originGot() == words)
    }

    /// The same where TLS would be opened, for which the server is not connected to at first.
    @Test func whereTLSWouldBeOpenedTheServerIsAskedToo() {
        for words in ["SSH-2.0-y\r\n", ""] {
            let talk = tunnel(to: "b.test:443") { $0.interception.hosts = ["*"].compactMap { DestinationPattern($0) } }
            talk.client("SSH-2.0-x\r\n")
            talk.connects()
            #expect(talk.originGot().isEmpty)
            if words.isEmpty { talk.driver.waits(1_000) } else { talk.origin(words) }
            #expect(talk.driver.isTunnel == !words.isEmpty && talk.clientGot() == words, "\(talk.notes)")
        }
    }

    @Test(arguments: ["HTTP/1.1 408 Request Timeout\r\n\r\n", "\u{15}\u{3}\u{3}\u{0}\u{2}\u{1}\u{0}", "HTT"])
    func aServerOfRequestsThatSpeaksFirst(_ words: String) {
        let talk = tunnel(to: "b.test:443")
        talk.origin(words)
        #expect(talk.driver.client != .open && !talk.driver.isTunnel)
    }

    @Test func aServerThatSpeaksFirstIsNone() {
        let talk = tunnel(to: "b.test:443")
        talk.origin("220 mail\r\n")
        #expect(talk.driver.isTunnel && talk.clientGot() == "220 mail\r\n")
        // TLS that the client had begun already is none of what the server greets
        let begun = tunnel(to: "b.test:443")
        begun.driver.fromClient(Array(Greeting.hello("a.test").prefix(30)))
        begun.origin("220 mail\r\n")
        #expect(begun.driver.client != .open && begun.originGot().isEmpty)
    }

    /// The origin's SETTINGS show HTTP/2 without TLS, whose requests name whom they like.
    @Test func streamsThatAreNotReadGoNowhere() {
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        let unread = tunnel(to: "b.test:443") { $0.http2.clients = false }
        unread.driver.fromClient(preface)
        #expect(unread.driver.client != .open && unread.originGot().isEmpty)
        let late = tunnel(to: "b.test:443")
        late.origin([0, 0, 0, 4, 0, 0, 0, 0, 0])
        late.driver.waits(1_000)
        #expect(late.driver.client != .open && !late.driver.isTunnel)
    }

    /// Without TLS it would be TLS to whomever the client names there.
    @Test func anUpgradeToTLSIsNotPassedOn() {
        let upgrade =
            "GET http://b.test:443/ HTTP/1.1\r\nHost: b.test:443\r\nConnection: upgrade\r\nUpgrade: TLS/1.2\r\n\r\n"
        let talk = Conversation(settings(["https://a.test/*"]))
        talk.client(upgrade)
        talk.connects()
        #expect(!talk.originGot().contains("TLS/1.2"))
        let other = Conversation(settings(["https://a.test:8443/*"]))
        other.client(upgrade)
        other.connects()
        #expect(other.originGot().contains("TLS/1.2"))
    }

    @Test(
        arguments: [
            (["https://a.test/*"], [443]), (["http://a.test/*"], [80]), (["https://a.test:8443/*"], [8443]),
            (["https://a.*/x"], [22, 80, 443, 8443]), (["*"], [22, 80, 443, 8443]), (["https://*.a.test/*"], [443]),
            (["https://a.test:84*/"], [22, 80, 443, 8443]), (["*://*:8443/"], [8443]),
            (["https://[2001:db8::1]/"], [443]),
            (["https://[2001:db8::1]:8443/"], [8443]), (["https://*43/"], [443, 8443]),
            (["http://a.test/*", "https://b.test/"], [80, 443]),
        ] as [([String], [UInt16])])
    func portsAtWhichSomethingIsEnforced(_ urls: [String], _ ports: [UInt16]) {
        let engine = Engine(settings(urls))
        #expect([22, 80, 443, 8443].filter { engine.enforces(port: $0) } == ports)
        for host in ["a.test", "x.a.test", "2001:db8::1", "x43", "b.test"] {
            for port in [22, 80, 443, 8443] as [UInt16] where engine.enforces(nil, host, port: port) {
                #expect(engine.enforces(port: port), "\(host) \(port)")
            }
        }
    }

    /// A client that refuses the certificate again and again does not get around it.
    @Test func refusalsDoNotHelp() {
        final class AllRefused: RefusalStore, @unchecked Sendable {
            func began(_ place: ServerPlace, by client: ClientKey) {}
            func ended(_ place: ServerPlace, by client: ClientKey, isDone: Bool) {}
            func refused(_ place: ServerPlace, by client: ClientKey) {}
            func left(_ place: ServerPlace, by client: ClientKey) -> RefusalCounts.Departure { .refusal }
            func accepted(_ place: ServerPlace, by client: ClientKey) {}
            func isLeftAlone(_ place: ServerPlace, for client: ClientKey) -> Bool { true }
        }
        let talk = Conversation(settings(["https://a.test/*"], opened: ["a.test"]), refusals: AllRefused())
        talk.client(connect("a.test:443"))
        talk.driver.fromClient(Greeting.hello("a.test"))
        #expect(talk.driver.client != .open && !talk.driver.isTunnel && talk.driver.dials == 0, "\(talk.notes)")
    }
}
