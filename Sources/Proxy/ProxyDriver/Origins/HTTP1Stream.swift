import EventLoop
internal import HTTP1
internal import HTTPCodec
import ProxyCore
import TLSEngine

/// The only stream of an HTTP/1 origin connection: its codec and its exchange. The channel owns it.
final class HTTP1Stream {
    var codec = HTTP1Client()
    @Unretained private var connection: Connection?
    private var exchange: ExchangeID?

    /// The id of the only stream.
    private static let id = StreamID(1)

    var isLent: Bool { connection != nil }

    func lend(to connection: Connection, _ exchange: ExchangeID) -> StreamID {
        self.connection = connection
        self.exchange = exchange
        return Self.id
    }

    /// - Returns: false if the origin connection cannot be reused.
    func release() -> Bool {
        connection = nil
        exchange = nil
        return codec.isReusable
    }

    // MARK: input

    func readable(_ channel: OriginChannel) {
        guard let connection else { return }
        let now = channel.loop.refreshNow()
        channel.loop.pulse.concerns(connection.machine.http.exchanges.lastFlow)
        for _ in 0..<Connection.readsPerTurn {
            if let goesOn = pass(from: channel, to: connection, now) {
                if goesOn { continue }
                return
            }
            switch channel.receiveResponse() {
            case .bytes:
                came(channel.incoming, on: channel, for: connection, now)
                guard connection.machine.http.relays.areOpen(from: .origin, of: exchange), channel.mayHoldMore,
                    self.connection === connection, channel.isReading
                else { return }
            case .nothing:
                if channel.queuedBytes > ClientConnection.highWater { channel.stopReading() }
                guard channel.mayHoldMore, channel.isReading else { return }
            case .wouldBlock: return
            case .end(let isWhole): return ended(channel, cut: !isWhole)
            case .failed(let fault): return ended(channel, cut: true, fault: fault)
            }
        }
    }

    /// - Parameter first: bytes that the origin sent before the request.
    func begin(with first: [UInt8], for request: LeaseRequest) {
        guard let connection, connection === request.connection else { return }
        connection.machine.received(
            first.span, through: &codec, for: request.exchange, now: connection.worker.loop.now, &connection.worker.out)
        connection.settle()
    }

    private func came(
        _ bytes: UnsafeBufferPointer<UInt8>, on channel: OriginChannel, for connection: Connection, _ now: Int
    ) {
        guard let exchange else { return }
        let count = connection.machine.http.relays.share(of: bytes.count, from: .origin, of: exchange)
        if count > 0 {
            let passed = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count]))
            guard connection.client.send(passed) else { return connection.client.lost() }
            connection.noteClientQueue()
            connection.machine.relayedFromOrigin(
                count, through: &codec, for: exchange, now: now, &connection.worker.out)
        }
        if count < bytes.count {
            connection.machine.received(
                UnsafeBufferPointer(rebasing: bytes[count...]).span, through: &codec, for: exchange, now: now,
                &connection.worker.out)
        }
        connection.settle(of: exchange)
    }

    /// Splices bulk data from socket to socket in the kernel if no code needs to see it.
    /// - Returns: nil if the data has to be read; else whether more may pass in this turn.
    private func pass(from channel: OriginChannel, to connection: Connection, _ now: Int) -> Bool? {
        guard channel.comesInBulk, let exchange,
            let outcome = channel.pass(
                to: connection.client,
                atMost: connection.machine.http.relays.share(of: StreamChannel.maxPassed, from: .origin, of: exchange))
        else { return nil }
        switch outcome {
        case .wouldBlock: return false
        case .end: ended(channel, cut: false)
        case .failed: ended(channel, cut: true)
        case .bytes(let count, let isHeard):
            guard isHeard else {
                connection.client.lost()
                return false
            }
            // passing resumes once the queue is empty
            connection.noteClientQueue(highWater: 0)
            connection.machine.relayedFromOrigin(
                count, through: &codec, for: exchange, now: now, &connection.worker.out)
            connection.settle()
            return connection.machine.http.relays.areOpen(from: .origin, of: exchange) && self.connection === connection
                && channel.isReading
        }
        return false
    }

    /// Handles the end of the origin's input.
    /// - Parameters:
    /// - cut: true if the input may be truncated and the origin receives nothing more.
    /// - fault: the TLS fault that ended it, if any.
    func ended(_ channel: OriginChannel, cut: Bool, fault: TLSFault? = nil) {
        channel.hasEnded = true
        channel.stopReading()
        if cut { channel.isSpent = true }
        guard let connection, let exchange else { return }
        let now = channel.loop.now
        connection.machine.originEnded(
            through: &codec, for: exchange, cleanly: !cut, fault: fault, now: now, &connection.worker.out)
        if channel.isWithinLoop, channel.hasHungUp {
            connection.machine.originLost(exchange, now: now, &connection.worker.out)
        }
        connection.settle()
    }

    // MARK: output

    func progressed() { if let exchange { connection?.progressed(.origin, exchange) } }
    func drained() { if let exchange { connection?.originDrained(exchange) } }
    func writeFailed() { if let exchange { connection?.originLost(exchange) } }
}
