import EventLoop
import HTTP1
import Interception
import Testing

@testable import ProxyCore
@testable import ProxyDriver

/// What the codecs of both versions have for the streams of a connection.
@Suite struct ClientCodecTests {
    private final class Silent: Recorder {
        func record(_ record: borrowing ExchangeRecord) {}
        func warn(_ text: String) {}
        func flush() {}
    }

    /// A connection to an origin, and somebody who wants it; ends the loop that they were on.
    private func withChannel(_ body: (OriginChannel, LeaseRequest, Worker) throws -> Void) throws {
        let messages = try Mailbox<WorkerMessage>()
        let settings = WorkerSettings(
            engine: Engine(Settings()), clients: ClientPolicy(), destinations: DestinationPolicy(),
            tls: try TestProxy.material())
        let worker = try Worker(
            WorkerStart(
                number: 0, settings: settings, tables: SharedTables(), listeners: [], addresses: [], messages: messages),
            recorder: Silent())
        let channel = OriginChannel(loop: worker.loop, security: worker.security, end: MemoryEnd.pair().far)
        let request = LeaseRequest(
            connection: worker.connectToNobody(), exchange: ExchangeID(1), scope: .any, version: .upgrade)
        try body(channel, request, worker)
        channel.close()
        messages.post(.stop)
        worker.run()
    }

    @Test("HTTP/1 has one stream, which is the connection")
    func one() throws {
        try withChannel { channel, request, _ in
            #expect(!channel.codec.isInUse)
            let stream = try #require(channel.codec.lend(to: request))
            #expect(channel.codec.isInUse && channel.codec.relay === channel)
            #expect(channel.codec.lend(to: request, isAnother: true) == nil)
            #expect(!channel.codec.awaitTerms(request), "an Upgrade goes as it is")
            #expect(channel.codec.release(stream, reusable: true) == true && !channel.codec.isInUse)
        }
    }

    @Test("a connection whose stream broke, or whose origin has ended, is not used again")
    func spent() throws {
        try withChannel { channel, request, _ in
            let first = try #require(channel.codec.lend(to: request))
            #expect(channel.codec.release(first, reusable: false) == false)
            let second = try #require(channel.codec.lend(to: request))
            channel.hasEnded = true
            #expect(channel.codec.release(second, reusable: true) == false)
            channel.hasEnded = false
            let third = try #require(channel.codec.lend(to: request))
            channel.http1.codec.preventReuse()
            #expect(channel.codec.release(third, reusable: true) == false)
        }
    }

    @Test("HTTP/2 has many streams, and none of them is the connection")
    func many() throws {
        try withChannel { channel, request, worker in
            channel.share(FrameClient(), Engine(Settings()), from: worker.origins.pool)
            #expect(channel.codec.isInUse && channel.codec.relay == nil)
            #expect(channel.codec.awaitTerms(request), "whether an Upgrade goes in a stream is not known yet")
            channel.codec.leave(request.connection, request.exchange)
            let first = try #require(channel.codec.lend(to: request))
            let second = try #require(channel.codec.lend(to: request, isAnother: true))
            #expect(first != second)
            #expect(channel.codec.release(first, reusable: true) == nil && channel.codec.isInUse)
            channel.codec.withdrawAfterOne()
            #expect(channel.codec.lend(to: request, isAnother: true) == nil, "it was made for one")
            #expect(channel.codec.release(second, reusable: true) == nil && channel.isClosed)
        }
    }
}
