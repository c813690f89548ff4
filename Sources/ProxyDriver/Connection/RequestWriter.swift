import EventLoop
internal import HTTPCodec
import ProxyCore

/// Writes what the exchanges of one connection say to their origins; what belongs together leaves in one piece.
struct RequestWriter {
    /// For whose stream the bytes are that wait to be sent.
    private var writing: ExchangeID?
    /// How much of the outbox's body bytes has gone to origins.
    private var bodyDone = 0

    /// Something waits to be sent.
    var isWriting: Bool { writing != nil }

    /// Has the codec of an exchange's stream write.
    /// - Returns: false where the order is another one.
    mutating func write(_ order: Order, of connection: Connection) -> Bool {
        let worker = connection.worker
        switch order {
        case .send(let id, let index):
            let stream = begin(id, of: connection)
            worker.out.heads.withUnsafeBufferPointer { heads in
                guard let stream, heads.indices.contains(index), let first = heads.baseAddress else { return }
                // by a pointer it is looked at where it is
                let one = first + index
                stream.codec.send(one.pointee.head, one.pointee.forwarding, on: stream.id, to: &worker.wire)
            }
        case .sendBody(let id, let count):
            let stream = begin(id, of: connection)
            takeBody(count, worker) { if let stream { stream.codec.write($0, on: stream.id, to: &worker.wire) } }
        case .sendRaw(let id, let count):
            let stream = begin(id, of: connection)
            takeBody(count, worker) { if let stream { stream.codec.writeRaw($0, on: stream.id, to: &worker.wire) } }
        case .sendEnd(let id, let trailers):
            guard let stream = begin(id, of: connection) else { break }
            stream.codec.end(trailers: trailers, on: stream.id, to: &worker.wire)
        case .finishOrigin(let id):
            // what was written before goes first
            flush(of: connection)
            guard let stream = begin(id, of: connection) else { break }
            stream.codec.finish(stream.id, to: &worker.wire)
            flush(of: connection)
        default: return false
        }
        return true
    }

    /// The next of the outbox's body bytes.
    private mutating func takeBody(_ count: Int, _ worker: Worker, _ write: (Span<UInt8>) -> Void) {
        let range = bodyDone..<bodyDone + count
        bodyDone += count
        worker.out.origin.withUnsafeBufferPointer { write(UnsafeBufferPointer(rebasing: $0[range]).span) }
    }

    /// What is written from here on is for that exchange's stream.
    private mutating func begin(_ id: ExchangeID, of connection: Connection) -> OriginStream? {
        if writing != id { flush(of: connection) }
        writing = id
        return connection.leases.streams.stream(id)
    }

    /// Sends what waits.
    mutating func flush(of connection: Connection) {
        guard let id = writing else { return }
        writing = nil
        let worker = connection.worker
        guard let stream = connection.leases.streams.stream(id) else { return worker.clearWire() }
        if !worker.wire.isEmpty {
            if !worker.wire.withUnsafeBytes({ stream.codec.transmit($0) }) { connection.spend(stream.channel, of: id) }
            worker.clearWire()
        }
        // what has no room in the origin's window waits without a byte of it here
        connection.machine.queuedForOrigin(stream.queuedBytes, of: id, now: worker.loop.now, &worker.out)
    }

    /// All orders are carried out, and the outbox is cleared.
    mutating func end() { bodyDone = 0 }
}
