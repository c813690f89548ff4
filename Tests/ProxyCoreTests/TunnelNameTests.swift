import Authorization
import HTTPCodec
import Interception
import ProxyCore
import Testing

@Suite("Tunnels whose TLS names another host, or starts late")
struct TunnelNameTests {
    private func connect(_ authority: String) -> String {
        "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n"
    }

    private func opening(_ hosts: String..., change: (inout Settings) -> Void = { _ in }) -> Settings {
        settings {
            $0.interception.hosts = hosts.compactMap { DestinationPattern($0) }
            change(&$0)
        }
    }

    @Test func aConnectionThatWouldComeTooLateIsGivenUp() {
        let talk = Conversation(opening("a.test"))
        talk.client(connect("a.test:443"))
        talk.driver.waits(1_000)
        #expect(talk.driver.dialing != nil)
        talk.driver.fromClient(Greeting.hello("a.test"))
        #expect(talk.driver.securing != nil && talk.driver.dialing == nil)
        talk.driver.clientIsSecured()
        talk.client("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        talk.connects()
        #expect(talk.originGot() == "GET / HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 usher\r\n\r\n")
    }

    @Test func anOriginThatLeavesDuringTheHandshakeSpoilsNothing() {
        let talk = Conversation(opening("a.test"))
        talk.client(connect("192.0.2.1:443"))
        talk.connects()
        talk.driver.fromClient(Greeting.hello("a.test"))
        talk.driver.originEnds()
        #expect(talk.driver.securing != nil && !talk.driver.isOver)
        talk.driver.clientIsSecured()
        #expect(talk.driver.releases == [true] && talk.driver.isIdle)
    }

    /// The session would go to whoever the client had the tunnel lead to.
    @Test func aCallToAMDoesNotTakeATunnelThatOnlyBearsItsName() {
        let am = AuthorizationServer(url: "https://am.test/am", host: "am.test", realms: ["/"])
        let talk = Conversation(
            opening("am.test") {
                $0.servers = [am]
                $0.authorization = [AuthorizationPolicy(resources: [.init(url: "https://am.test/app/*")], server: am)]
            })
        talk.client(connect("evil.test:443"))
        talk.connects()
        talk.driver.fromClient(Greeting.hello("am.test"))
        talk.driver.clientIsSecured()
        talk.client("GET /app/x HTTP/1.1\r\nHost: am.test\r\n\(SteppingUp.session)\r\n\r\n")
        #expect(talk.driver.dialing?.serverName == "am.test")
        talk.connects()
        talk.origin(SteppingUp.refused(am: "https://am.test/am"))
        #expect(talk.driver.dialing == Origin(scheme: .https, host: "am.test", port: 443), "\(talk.notes)")
    }

    @Test func theDotBehindANameMakesItNoOther() {
        let talk = Conversation(opening("a.test"))
        talk.client(connect("a.test.:443"))
        talk.driver.fromClient(Greeting.hello("a.test"))
        talk.driver.clientIsSecured()
        #expect(!talk.noted("(SNI)"))
        talk.client("GET / HTTP/1.1\r\nHost: a.test.\r\n\r\n")
        #expect(talk.driver.dialing == Origin(scheme: .https, host: "a.test", port: 443), "\(talk.notes)")
    }
}
