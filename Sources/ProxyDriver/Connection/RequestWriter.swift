import EventLoop
internal import HTTPCodec
import ProxyCore

/// Writes the exchanges' output to their origins. Consecutive output for one stream is sent in one piece.
struct RequestWriter {
    /// The exchange whose output is pending.
    private var writing: ExchangeID?
    /// The count of the command buffer's body bytes already used.
    private var bodyDone = 0

    /// True if output is pending.
    var isWriting: Bool { writing != nil }

    /// Writes a command through the codec of the exchange's stream.
    /// - Returns: false for other orders.
    mutating func write(_ command: DriverCommand, of connection: Connection) -> Bool {
        let worker = connection.worker
        switch command {
        case .send(let id, let index):
            let stream = start(id, of: connection)
            worker.out.heads.withUnsafeBufferPointer { heads in
                guard let stream, heads.indices.contains(index), let first = heads.baseAddress else { return }
                // through a pointer, to avoid a copy
                let one = first + index
                stream.codec.send(one.pointee.head, one.pointee.forwarding, on: stream.id, to: &worker.wire)
            }
        case .sendBody(let id, let count):
            let stream = start(id, of: connection)
            takeBody(count, worker) { if let stream { stream.codec.write($0, on: stream.id, to: &worker.wire) } }
        case .sendRaw(let id, let count):
            let stream = start(id, of: connection)
            takeBody(count, worker) { if let stream { stream.codec.writeRaw($0, on: stream.id, to: &worker.wire) } }
        case .sendEnd(let id, let trailers):
            guard let stream = start(id, of: connection) else { break }
            stream.codec.end(trailers: trailers, on: stream.id, to: &worker.wire)
        case .finishOrigin(let id):
            // earlier output is sent first
            flush(of: connection)
            guard let stream = start(id, of: connection) else { break }
            stream.codec.finish(stream.id, to: &worker.wire)
            flush(of: connection)
        default: return false
        }
        return true
    }

    /// Takes the next body bytes of the command buffer.
    private mutating func takeBody(_ count: Int, _ worker: Worker, _ write: (Span<UInt8>) -> Void) {
        let range = bodyDone..<bodyDone + count
        bodyDone += count
        worker.out.origin.withUnsafeBufferPointer { write(UnsafeBufferPointer(rebasing: $0[range]).span) }
    }

    /// Switches the output to this exchange's stream.
    private mutating func start(_ id: ExchangeID, of connection: Connection) -> OriginStream? {
        if writing != id { flush(of: connection) }
        writing = id
        return connection.leases.streams.stream(id)
    }

    /// Sends pending output.
    mutating func flush(of connection: Connection) {
        guard let id = writing else { return }
        writing = nil
        let worker = connection.worker
        guard let stream = connection.leases.streams.stream(id) else { return worker.clearWire() }
        if !worker.wire.isEmpty {
            if !worker.wire.withUnsafeBytes({ stream.codec.transmit($0) }) { connection.spend(stream.channel, of: id) }
            worker.clearWire()
        }
        // bytes beyond the origin's window are queued in the codec
        connection.machine.queuedForOrigin(stream.queuedBytes, of: id, now: worker.loop.now, &worker.out)
    }

    /// Resets the state after all orders.
    mutating func end() { bodyDone = 0 }
}
