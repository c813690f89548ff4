import COpenSSL
import Testing

@testable import TLSEngine

/// TLS 1.2, where a ticket serves again and again.
@Suite("Tickets that grow old")
struct RenewalTests {
    /// Connects, and says what is to be resumed by afterwards.
    private func connect(_ world: World, _ session: TLSSession?) throws -> (isResumed: Bool, session: TLSSession) {
        var handle: OpaquePointer?
        let stream = try world.origins.stream(to: "a.test", OriginDemands(), session: session)
        try stream.configure { (ssl) throws(TLSFault) in
            try LibraryCall.connection(
                SSL_ctrl(ssl, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1, "SSL_ctrl")
            handle = ssl
        }
        let talk = Conversation(client: stream, server: try world.clients.stream(showing: world.leaf))
        talk.talk()
        let negotiated = try #require(stream.negotiated)
        #expect(negotiated.version == "TLSv1.2")
        return (negotiated.isResumed, TLSSession(owning: try #require(SSL_get1_session(handle))))
    }

    private func ticket(_ session: TLSSession) -> [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        SSL_SESSION_get0_ticket(session.handle, &bytes, &count)
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    @Test func anOldOneIsRenewedAndAYoungOneIsNot() throws {
        let world = try World()
        let first = try connect(world, nil)
        #expect(!first.isResumed && !ticket(first.session).isEmpty)
        let second = try connect(world, first.session)
        #expect(second.isResumed && ticket(second.session) == ticket(first.session))
        // its key is the one before the present one
        world.tickets.advance(now: world.began + TicketKeys.period)
        let third = try connect(world, second.session)
        #expect(third.isResumed && ticket(third.session) != ticket(first.session))
        // so that a client which comes once a period never needs a handshake in full
        world.tickets.advance(now: world.began + 2 * TicketKeys.period)
        #expect(try connect(world, third.session).isResumed)
        #expect(try !connect(world, first.session).isResumed)
    }
}
