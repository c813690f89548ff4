import Formats
import HTTP1
import HTTPCodec

@testable import ProxyCore

/// What an exchange has of an origin's connection: a stream, or the whole of one that speaks HTTP/1.
struct LinkStream: OriginWriter {
    let link: OriginLink
    /// Nil where it has the whole connection.
    let id: StreamID?

    /// The codec and the stream, where the connection is shared.
    private var shared: (codec: any StreamClient, stream: StreamID)? {
        guard let id, let codec = link.shared else { return nil }
        return (codec, id)
    }

    func send(_ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, to wire: inout [UInt8]) {
        guard let (shared, stream) = shared else { return link.codec.send(head, forwarding, to: &wire) }
        shared.send(head, forwarding, on: stream, to: &wire)
    }

    func write(_ bytes: Span<UInt8>, to wire: inout [UInt8]) {
        guard let (shared, stream) = shared else { return link.codec.write(bytes, to: &wire) }
        shared.write(bytes, on: stream, to: &wire)
    }

    func writeRaw(_ bytes: Span<UInt8>, to wire: inout [UInt8]) {
        guard let (shared, stream) = shared else { return wire.append(bytes) }
        shared.write(bytes, on: stream, to: &wire)
    }

    func end(trailers: [UInt8], to wire: inout [UInt8]) {
        guard let (shared, stream) = shared else { return link.codec.end(trailers: trailers, to: &wire) }
        shared.end(trailers: trailers, on: stream, to: &wire)
    }

    func finish(to wire: inout [UInt8]) {
        guard let (shared, stream) = shared else { return link.finish() }
        shared.end(trailers: [], on: stream, to: &wire)
    }

    /// Bytes that wait for the origin.
    var queued: Int { link.queued(for: id) }
}
