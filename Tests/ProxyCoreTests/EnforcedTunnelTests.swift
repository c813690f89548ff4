import Authorization
import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

@Suite("Tunnels to what AM decides on")
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

    /// A client that refuses the certificate again and again does not get around it.
    @Test func refusalsDoNotHelp() {
        final class AllRefused: RefusalStore, @unchecked Sendable {
            func began(_ place: ServerPlace, by client: ClientKey) {}
            func ended(_ place: ServerPlace, by client: ClientKey) {}
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
