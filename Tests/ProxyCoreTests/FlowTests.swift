import ProxyCore
import Testing

/// Who is read while who has how much to take, and when a tunnel is over.
@Suite("Back-pressure") struct FlowTests {
    private static let some = ClientConnection.highWater
    private static let full = ClientConnection.highWater + 1

    @Test func aFullOriginHoldsItsClientUpUntilAllIsGone() {
        let talk = Conversation()
        talk.client("PUT http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100000\r\n\r\n")
        talk.connects()
        talk.driver.queues(Self.some, for: .origin)
        #expect(!talk.driver.isPaused)
        talk.driver.queues(Self.full, for: .origin)
        #expect(talk.driver.isPaused)
        talk.driver.queues(1, for: .origin)
        #expect(talk.driver.isPaused, "the kernel's own buffers are full until then")
        talk.driver.queues(0, for: .origin)
        #expect(!talk.driver.isPaused)
    }

    @Test func anOriginThatIsLeftHoldsNobodyUp() {
        let talk = Conversation()
        talk.client("PUT http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100000\r\n\r\n")
        talk.connects()
        talk.driver.queues(Self.full, for: .origin)
        talk.origin("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        #expect(talk.driver.origin == nil && !talk.driver.isPaused)
    }

    @Test func aFullClientHoldsItsOriginUp() {
        let talk = Conversation()
        talk.client(get)
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        #expect(talk.driver.readsOrigin)
        talk.driver.queues(Self.full, for: .client)
        #expect(!talk.driver.readsOrigin)
        #expect(!talk.driver.isPaused, "what it sends is for somebody else")
        talk.driver.queues(0, for: .client)
        #expect(talk.driver.readsOrigin)
    }

    @Test func nothingFurtherIsAnsweredToAFullClient() {
        let talk = Conversation()
        talk.client(get + get)
        talk.connects()
        talk.driver.queues(Self.full, for: .client)
        talk.origin(ok)
        #expect(talk.driver.records.count == 1 && talk.driver.isPaused)
        #expect(talk.driver.origin == nil, "the next request waits")
        talk.driver.queues(0, for: .client)
        talk.origin(ok)
        #expect(talk.driver.records.count == 2 && !talk.driver.isPaused)
    }

    @Test func aTunnelEndsWhenAllHasGoneOut() {
        for side in [ConnectionSide.client, .origin] {
            let talk = tunnel()
            talk.driver.queues(5, for: side)
            talk.driver.originEnds()
            #expect(talk.driver.client == .finished)
            talk.driver.clientEnds()
            #expect(talk.connection?.isFinished == true && !talk.driver.isOver, "\(side)")
            talk.driver.queues(0, for: side)
            #expect(talk.driver.client == .closed && talk.driver.records.count == 1)
        }
    }

    @Test func aTunnelThatNobodyHearsIsNotWaitedFor() {
        let talk = tunnel()
        talk.driver.origin?.fail()
        #expect(!talk.driver.isOver, "what it said before may still come")
        talk.origin("bye")
        talk.driver.originEnds()
        #expect(talk.driver.client == .closed && talk.clientGot().hasSuffix("bye"))
    }

    private func tunnel() -> Conversation {
        let talk = Conversation()
        talk.client("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n\u{16}")
        talk.connects()
        return talk
    }
}
