import Authorization
import ProxyCore
import Synchronization
import Testing

/// What happens to a call that no exchange waits for concerns no tunnel of the same connection.
@Suite("A call without a caller beside a tunnel")
struct StrayCallTests {
    private let connect = "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"
    private let established = "HTTP/1.1 200 Connection Established\r\n\r\n"

    /// A call is being connected, and a tunnel behind it.
    private func both() throws -> Conversation {
        let ends = Mutex<[OwnSession.End]>([])
        _ = OwnSession(
            SessionSource(token: "T", carrier: .provided), at: server, realm: "/", renewableUntil: 0,
            onEnd: { end in ends.withLock { $0.append(end) } })
        let backgroundCall = BackgroundCall(try #require(ends.withLock { $0.first }))
        let talk = Conversation()
        talk.driver.happens { $0.http.run(backgroundCall, now: 0, &$1) { _ in } }
        talk.client(connect)
        #expect(talk.driver.dialing?.host == "am.test" && talk.driver.dials == 2)
        return talk
    }

    @Test func itsConnectionIsNotTheTunnels() throws {
        let talk = try both()
        let call = talk.connects()
        #expect(talk.clientGot() == "" && call?.received.isEmpty == false)
        talk.connects()
        #expect(talk.clientGot() == established)
    }

    @Test func itsFailureIsNotTheTunnels() throws {
        let talk = try both()
        talk.driver.dialConnects()
        talk.driver.dialFails(.timedOut)
        #expect(talk.clientGot() == "" && talk.driver.dialing?.host == "a.test")
        talk.connects()
        #expect(talk.clientGot() == established)
    }

    @Test func itsEndIsNotTheTunnels() throws {
        for isOpen in [false, true] {
            let talk = try both()
            let call = talk.connects()
            let origin = talk.connects()
            if isOpen { talk.client("\u{16}\u{3}\u{1}hello") }
            call?.end()
            #expect(talk.driver.client == .open && talk.driver.isTunnel == isOpen && talk.driver.exchanges == 1)
            if !isOpen { talk.client("\u{16}\u{3}\u{1}hello") }
            origin?.receive(Array("\u{16}\u{3}\u{3}world".utf8))
            #expect(talk.clientGot() == established + "\u{16}\u{3}\u{3}world")
        }
    }

    @Test func itsResponseIsNotTheTunnels() throws {
        for isOpen in [false, true] {
            let talk = try both()
            let call = talk.connects()
            talk.connects()
            if isOpen { talk.client("\u{16}\u{3}\u{1}hello") }
            call?.receive(Array(ok.utf8))
            #expect(talk.clientGot() == established && talk.driver.isTunnel == isOpen && talk.driver.exchanges == 1)
        }
    }
}
