import EventLoop
internal import HTTP1
internal import HTTPCodec
import ProxyCore

/// What an exchange has of an origin's connection: a stream of one that carries many, or the whole of one that speaks HTTP/1.
struct OriginStream {
    let channel: OriginChannel
    /// Nil where the connection carries one exchange at a time.
    let id: StreamID?

    /// Bytes that wait for the origin.
    var queuedBytes: Int {
        guard let id, let shared = channel.shared else { return channel.queuedBytes }
        return channel.queuedBytes + shared.leg.waiting(on: id)
    }

    // MARK: reading

    func read(_ isWanted: Bool) {
        guard let id, let shared = channel.shared else { return channel.read(isWanted) }
        shared.read(id, isWanted)
    }

    // MARK: writing

    func send(_ head: borrowing RequestHead, _ forwarding: borrowing Forwarding, to wire: inout [UInt8]) {
        guard let id, let shared = channel.shared else { return channel.leg.send(head, forwarding, to: &wire) }
        shared.leg.send(head, forwarding, on: id, to: &wire)
    }

    func write(_ bytes: Span<UInt8>, to wire: inout [UInt8]) {
        guard let id, let shared = channel.shared else { return channel.leg.write(bytes, to: &wire) }
        shared.leg.write(bytes, on: id, to: &wire)
    }

    func end(trailers: [UInt8], to wire: inout [UInt8]) {
        guard let id, let shared = channel.shared else { return channel.leg.end(trailers: trailers, to: &wire) }
        shared.leg.end(trailers: trailers, on: id, to: &wire)
    }

    // MARK: the end

    /// Nobody uses it any more.
    /// - Returns: true where the whole connection is free for that, and may be used again.
    func release(reusable: Bool) -> Bool {
        if let id, let shared = channel.shared {
            shared.release(id)
            return false
        }
        channel.connection = nil
        channel.exchange = nil
        return reusable && channel.leg.isReusable && !channel.hasEnded
    }
}
