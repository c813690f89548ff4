import Interception
import ProxyCore
import TLSEngine
import Testing

@Suite("A TLS listener")
struct SecureListenerTests {
    private func conversation() -> Conversation {
        Conversation(source: ClientSource(address: nil, isSecure: true))
    }

    @Test func aClientSpeaksTLSToTheProxyItself() {
        let talk = conversation()
        talk.driver.fromClient(Greeting.hello("proxy.test"))
        #expect(talk.driver.securing?.name == .listener("proxy.test"))
        talk.driver.clientIsSecured()
        #expect(talk.driver.records.isEmpty)
        talk.client(get)
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot() == okForClient)
    }

    @Test(arguments: ["GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "CONNECT a.test:443 HTTP/1.1\r\n\r\n"])
    func aClientThatSpeaksHTTPIsToldSo(_ request: String) {
        let talk = conversation()
        talk.client(request)
        #expect(talk.record.status == 400 && talk.clientGot().contains("write https:// before it"))
        #expect(talk.driver.client == .finished)
    }

    @Test(arguments: [TLSFault(.alert(48), "x"), TLSFault(.closed, "x")])
    func aClientThatRefusesTheProxysCertificate(_ fault: TLSFault) {
        let talk = conversation()
        talk.driver.fromClient(Greeting.hello("proxy.test"))
        talk.driver.clientIsUnsecured(fault, hasSeen: true)
        #expect(talk.noted("tls.listener") && talk.noted("the proxy itself") && talk.noted("--proxy-cacert"))
        #expect(!talk.noted("tls.except"), "what is opened has nothing to do with it")
    }

    @Test func neitherTheOneNorTheOther() {
        let talk = conversation()
        talk.client("SSH-2.0-x\r\n")
        #expect(talk.driver.isOver && talk.record.proxyError == "tls_protocol_error")
    }

    @Test func aClientThatBeginsAndStops() {
        let talk = conversation()
        talk.driver.fromClient([22, 3, 1])
        talk.driver.waits(5_000)
        #expect(talk.driver.isOver && talk.record.proxyError == "connection_timeout")
    }

    @Test func aClientThatSaysNothing() {
        let talk = conversation()
        talk.driver.waits(60_000)
        #expect(talk.driver.isOver && talk.driver.records.isEmpty)
    }
}
