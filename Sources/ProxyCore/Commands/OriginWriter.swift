import HTTP1
import HTTPCodec

/// The exchange's part of an origin's connection, for writing: a whole HTTP/1 connection, or a stream.
protocol OriginWriter {
    /// The codec, when the exchange has the whole connection.
    var codec: HTTP1Client { get nonmutating set }
    /// The codec and the stream, when the connection is shared.
    var shared: (codec: any StreamClient, stream: StreamID)? { get }

    func send(_ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, to wire: inout [UInt8])
    func write(_ bytes: Span<UInt8>, to wire: inout [UInt8])
    func end(trailers: [UInt8], to wire: inout [UInt8])
}

extension OriginWriter {
    func send(_ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, to wire: inout [UInt8]) {
        guard let (shared, stream) = shared else { return codec.send(head, forwarding, to: &wire) }
        shared.send(head, forwarding, on: stream, to: &wire)
    }

    func write(_ bytes: Span<UInt8>, to wire: inout [UInt8]) {
        guard let (shared, stream) = shared else { return codec.write(bytes, to: &wire) }
        shared.write(bytes, on: stream, to: &wire)
    }

    func end(trailers: [UInt8], to wire: inout [UInt8]) {
        guard let (shared, stream) = shared else { return codec.end(trailers: trailers, to: &wire) }
        shared.end(trailers: trailers, on: stream, to: &wire)
    }
}
