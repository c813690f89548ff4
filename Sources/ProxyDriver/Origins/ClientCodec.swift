import EventLoop
internal import Formats
internal import HTTP1
internal import HTTPCodec
import ProxyCore

/// A stream of an origin's connection, which an exchange has leased.
struct OriginStream {
    let channel: OriginChannel
    let id: StreamID

    var codec: ClientCodec { channel.codec }

    /// Bytes that wait for the origin.
    var queuedBytes: Int { channel.queuedBytes + codec.waiting(on: id) }
}

/// Turns the bytes of an origin's connection into messages and back, by stream. HTTP/1 has one stream, which is the connection
/// itself. Which version it is, nobody else asks but the pool, and whoever agrees on it.
enum ClientCodec {
    case http1(OriginChannel)
    case http2(SharedStreams)

    // MARK: leases

    /// The stream of whom the connection was made for, or found for; nil where there is none.
    func lend(to request: LeaseRequest) -> StreamID? {
        switch self {
        case .http1(let channel): channel.http1.lend(to: request.connection, request.exchange)
        case .http2(let streams): streams.lend(to: request.connection, request.exchange, isFirst: true)
        }
    }

    /// The stream of somebody who waited for the connection, too; nil where others have all that there are.
    func lendAnother(to request: LeaseRequest) -> StreamID? {
        switch self {
        case .http1: nil
        case .http2(let streams): streams.lend(to: request.connection, request.exchange, isFirst: true)
        }
    }

    /// Has a request for an Upgrade wait until the origin has said whether it takes such in a stream.
    /// - Returns: false where there is nothing to wait for.
    func awaitTerms(_ request: LeaseRequest) -> Bool {
        guard case .http2(let streams) = self, request.version == .upgrade else { return false }
        streams.awaitTerms(request)
        return true
    }

    /// Does not wait any more.
    func leave(_ connection: Connection, _ exchange: ExchangeID) {
        if case .http2(let streams) = self { streams.leave(connection, exchange) }
    }

    /// - Parameter first: what the origin said before anything was asked of it.
    func begin(with first: [UInt8], for request: LeaseRequest) {
        guard !first.isEmpty else { return }
        switch self {
        case .http1(let channel): channel.http1.begin(with: first, for: request)
        case .http2(let streams): streams.begin(with: first)
        }
    }

    /// Nobody uses the stream any more.
    /// - Returns: whether the connection may be used again, where that was its only stream.
    func release(_ stream: StreamID, reusable: Bool) -> Bool? {
        switch self {
        case .http1(let channel): return channel.http1.release() && reusable && !channel.hasEnded
        case .http2(let streams):
            streams.release(stream)
            return nil
        }
    }

    /// No further stream is lent.
    func withdraw() { if case .http2(let streams) = self { streams.withdraw() } }

    /// Whoever it was made for wants a new one each time, and would leave one behind each time. One that waits to hear what the origin
    /// takes has none yet.
    func withdrawAfterOne() { if case .http2(let streams) = self, streams.count == 1 { streams.withdraw() } }

    // MARK: requests

    func send(
        _ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, on stream: StreamID, to wire: inout [UInt8]
    ) {
        switch self {
        case .http1(let channel): channel.http1.codec.send(head, forwarding, to: &wire)
        case .http2(let streams): streams.codec.send(head, forwarding, on: stream, to: &wire)
        }
    }

    func write(_ bytes: Span<UInt8>, on stream: StreamID, to wire: inout [UInt8]) {
        switch self {
        case .http1(let channel): channel.http1.codec.write(bytes, to: &wire)
        case .http2(let streams): streams.codec.write(bytes, on: stream, to: &wire)
        }
    }

    /// Bytes of what is no message.
    func writeRaw(_ bytes: Span<UInt8>, on stream: StreamID, to wire: inout [UInt8]) {
        switch self {
        case .http1: wire.append(bytes)
        case .http2(let streams): streams.codec.write(bytes, on: stream, to: &wire)
        }
    }

    func end(trailers: [UInt8], on stream: StreamID, to wire: inout [UInt8]) {
        switch self {
        case .http1(let channel): channel.http1.codec.end(trailers: trailers, to: &wire)
        case .http2(let streams): streams.codec.end(trailers: trailers, on: stream, to: &wire)
        }
    }

    /// The origin hears no more on a stream that carries no message. It may still speak.
    func finish(_ stream: StreamID, to wire: inout [UInt8]) {
        switch self {
        case .http1(let channel): channel.finish()
        case .http2(let streams): streams.codec.end(trailers: [], on: stream, to: &wire)
        }
    }

    /// Has what was written leave.
    /// - Returns: false when the origin is gone.
    func transmit(_ wire: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .http1(let channel): channel.send(wire)
        case .http2(let streams): streams.gather(wire)
        }
    }

    /// Bytes that are kept until the origin grants room for them.
    func waiting(on stream: StreamID) -> Int {
        switch self {
        case .http1: 0
        case .http2(let streams): streams.codec.waiting(on: stream)
        }
    }

    // MARK: responses

    func read(_ stream: StreamID, _ isWanted: Bool) {
        switch self {
        case .http1(let channel): channel.read(isWanted)
        case .http2(let streams): streams.read(stream, isWanted)
        }
    }

    // MARK: raw bytes

    /// Where bytes pass as they are, from socket to socket if need be; nil where all of them go in frames.
    var relay: OriginChannel? {
        switch self {
        case .http1(let channel): channel
        case .http2: nil
        }
    }

    // MARK: the connection

    /// Somebody has a stream of it, or may have one.
    var isInUse: Bool {
        switch self {
        case .http1(let channel): channel.http1.isLent
        case .http2: true
        }
    }

    func readable() {
        switch self {
        case .http1(let channel): channel.http1.readable(channel)
        case .http2(let streams): streams.readable()
        }
    }

    func progressed() {
        switch self {
        case .http1(let channel): channel.http1.progressed()
        case .http2(let streams): streams.progressed()
        }
    }

    func drained() {
        switch self {
        case .http1(let channel): channel.http1.drained()
        case .http2(let streams): streams.drained()
        }
    }

    func writeFailed() {
        switch self {
        case .http1(let channel): channel.http1.writeFailed()
        case .http2(let streams): streams.writeFailed()
        }
    }

    /// Nothing more will be heard of the origin.
    func broke() {
        switch self {
        case .http1(let channel): channel.http1.ended(channel, cut: true)
        case .http2(let streams): streams.ended(.connection(nil))
        }
    }
}
