import EventLoop
internal import Formats
internal import HTTP1
internal import HTTPCodec
import ProxyCore

/// A leased stream of an origin connection.
struct OriginStream: OriginWriter {
    let channel: OriginChannel
    let id: StreamID

    var codec: ClientCodec { channel.codec }

    /// The bytes queued for the origin.
    var queuedBytes: Int { channel.queuedBytes + codec.waiting(on: id) }

    func send(_ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, to wire: inout [UInt8]) {
        codec.send(head, forwarding, on: id, to: &wire)
    }

    func write(_ bytes: Span<UInt8>, to wire: inout [UInt8]) { codec.write(bytes, on: id, to: &wire) }
    func writeRaw(_ bytes: Span<UInt8>, to wire: inout [UInt8]) { codec.writeRaw(bytes, on: id, to: &wire) }
    func end(trailers: [UInt8], to wire: inout [UInt8]) { codec.end(trailers: trailers, on: id, to: &wire) }
    func finish(to wire: inout [UInt8]) { codec.finish(id, to: &wire) }
}

/// Converts between an origin connection's bytes and messages, by stream. HTTP/1 has one stream, the connection itself. Only the
/// pool and the protocol negotiation check the version.
enum ClientCodec {
    case http1(OriginChannel)
    case http2(SharedStreams)

    // MARK: leases

    /// Lends a stream; nil if there is none.
    /// - Parameter isAnother: true for a request that the connection was neither made nor found for.
    func lend(to request: LeaseRequest, isAnother: Bool = false) -> StreamID? {
        switch self {
        case .http1(let channel): isAnother ? nil : channel.http1.lend(to: request.connection, request.exchange)
        case .http2(let streams): streams.lend(to: request.connection, request.exchange, isFirst: true)
        }
    }

    /// Makes an Upgrade wait until the origin has announced whether streams support it.
    /// - Returns: false if there is nothing to wait for.
    func awaitTerms(_ request: LeaseRequest) -> Bool {
        guard case .http2(let streams) = self, request.version == .upgrade else { return false }
        streams.awaitTerms(request)
        return true
    }

    /// Ends the wait of an exchange.
    func leave(_ connection: Connection, _ exchange: ExchangeID) {
        if case .http2(let streams) = self { streams.leave(connection, exchange) }
    }

    /// - Parameter first: bytes that the origin sent before the request.
    func begin(with first: [UInt8], for request: LeaseRequest) {
        guard !first.isEmpty else { return }
        switch self {
        case .http1(let channel): channel.http1.begin(with: first, for: request)
        case .http2(let streams): streams.begin(with: first)
        }
    }

    /// Releases a stream.
    /// - Returns: whether the connection is reusable, if that was its only stream.
    func release(_ stream: StreamID, reusable: Bool) -> Bool? {
        switch self {
        case .http1(let channel): return channel.http1.release() && reusable && !channel.hasEnded
        case .http2(let streams):
            streams.release(stream)
            return nil
        }
    }

    /// Lends no more streams.
    func withdraw() { if case .http2(let streams) = self { streams.withdraw() } }

    /// Lends no more streams after the first. A caller that needs a new connection each time would otherwise leave one behind
    /// each time. A request that waits for the origin's settings has no stream yet.
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

    /// Writes bytes outside of messages.
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

    /// Ends the sending side of a stream without messages. The origin may continue to send.
    func finish(_ stream: StreamID, to wire: inout [UInt8]) {
        switch self {
        case .http1(let channel): channel.finish()
        case .http2(let streams): streams.codec.end(trailers: [], on: stream, to: &wire)
        }
    }

    /// Sends written bytes.
    /// - Returns: false if the origin is gone.
    func transmit(_ wire: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .http1(let channel): channel.send(wire)
        case .http2(let streams): streams.gather(wire)
        }
    }

    /// The bytes that wait for the origin's window.
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

    /// The channel for raw relay; nil if all bytes are in frames.
    var relay: OriginChannel? {
        switch self {
        case .http1(let channel): channel
        case .http2: nil
        }
    }

    // MARK: the connection

    /// True if a stream is lent or can be lent.
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

    /// Handles the loss of the origin's input.
    func broke() {
        switch self {
        case .http1(let channel): channel.http1.ended(channel, cut: true)
        case .http2(let streams): streams.ended(.connection(nil))
        }
    }
}
