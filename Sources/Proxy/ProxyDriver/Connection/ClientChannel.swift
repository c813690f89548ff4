internal import Addresses
import EventLoop
import Metrics
import ProxyCore
import TLSEngine

/// The client's side of a connection: input, TLS and the close. The connection owns it, so the back reference owns nothing.
final class ClientChannel: StreamChannel {
    /// Nil once the client is gone.
    @Unretained private var connection: Connection?
    private var ending: GracefulClose?
    /// True during the TLS handshake.
    private var awaitsHandshake = false

    /// Starts to deliver input to the connection.
    func begin(for connection: Connection) {
        self.connection = connection
        startReading()
    }

    var isGone: Bool { connection == nil }

    // MARK: channel events

    override func readable() {
        guard let connection else { return }
        let now = loop.refreshNow()
        loop.pulse.concerns(connection.machine.http.exchanges.lastFlow)
        for _ in 0..<Connection.readsPerTurn {
            guard pass(for: connection, now) ?? received(receive(), for: connection, now) else { return }
        }
    }

    override func progressed() { connection?.progressed(.client) }

    override func drained() {
        guard let connection else { return }
        if ending != nil { return closeWhereTaken() }
        connection.machine.clientDrained(now: loop.now)
        queueGrew()
    }

    override func queueGrew() {
        connection?.noteClientQueue()
        connection?.settle()
    }

    override func writeFailed(_ error: SystemError) { lost() }
    override func readingRefused() { lost() }

    // MARK: input

    /// - Returns: true if more may be read in this turn.
    private func received(_ received: Received, for connection: Connection, _ now: Int) -> Bool {
        if awaitsHandshake, !handshakeWentOn(received, for: connection) { return false }
        switch received {
        case .bytes:
            came(incoming, for: connection, now)
            return connection.machine.http.relays.areOpen(from: .client) && mayHoldMore && isReading
        case .nothing:
            // TLS may respond by itself, and the peer has to read that too
            if queuedBytes > ClientConnection.highWater { stopReading() }
            return mayHoldMore && isReading
        case .wouldBlock: return false
        case .end:
            stopReading()
            connection.machine.clientEnded(now: now, &connection.worker.out)
            connection.settle()
            return false
        case .failed:
            lost()
            return false
        }
    }

    private func came(_ bytes: UnsafeBufferPointer<UInt8>, for connection: Connection, _ now: Int) {
        let worker = connection.worker
        let count = connection.machine.http.relays.share(of: bytes.count, from: .client)
        if count > 0 {
            if let exchange = connection.machine.http.relays.exchange,
                let origin = connection.leases.streams.relay(of: exchange)
            {
                // the origin's earlier bytes may still be read
                if !origin.send(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count]))) {
                    connection.spend(origin, of: exchange)
                }
                connection.noteQueue(of: origin, exchange)
            }
            connection.machine.relayedFromClient(count, now: now, &worker.out)
        }
        if count < bytes.count {
            connection.machine.received(
                UnsafeBufferPointer(rebasing: bytes[count...]).span, now: now, &worker.out)
            if connection.machine.awaitsBody { acknowledge() }
        }
        connection.settleClient()
    }

    /// Splices bulk data from socket to socket in the kernel if no code needs to see it.
    /// - Returns: nil if the data has to be read; else whether more may pass in this turn.
    private func pass(for connection: Connection, _ now: Int) -> Bool? {
        guard comesInBulk, let exchange = connection.machine.http.relays.exchange,
            let origin = connection.leases.streams.relay(of: exchange),
            let outcome = pass(
                to: origin, atMost: connection.machine.http.relays.share(of: Self.maxPassed, from: .client))
        else { return nil }
        switch outcome {
        case .wouldBlock: return false
        case .end: return received(.end(isWhole: true), for: connection, now)
        case .failed: return received(.failed(nil), for: connection, now)
        case .bytes(let count, let isHeard):
            // the origin's earlier bytes may still be read
            if !isHeard { connection.spend(origin, of: exchange) }
            // passing resumes once the queue is empty
            connection.noteQueue(of: origin, exchange, highWater: 0)
            connection.machine.relayedFromClient(count, now: now, &connection.worker.out)
            connection.settle()
            return connection.machine.http.relays.areOpen(from: .client) && isReading
        }
    }

    /// Reads if wanted, unless the channel is about to close.
    func read(unlessClosing isWanted: Bool) { if !isGone { read(isWanted && ending?.kind != .close) } }

    // MARK: the client's handshake

    func secure(showing name: ShownName, _ hello: [UInt8]) {
        guard let connection else { return }
        let worker = connection.worker
        let protocols = worker.settings.engine.settings.http2.clientProtocols
        do throws(TLSFault) {
            let stream =
                switch name {
                case .host(let host): try worker.security.stream(showing: host, speaking: protocols)
                case .listener(let asked):
                    try worker.security.stream(listeningAs: asked, at: localName, speaking: protocols)
                }
            awaitsHandshake = true
            _ = received(add(stream, first: hello), for: connection, loop.now)
        } catch {
            awaitsHandshake = false
            worker.metrics.count(.clientHandshakeFailures)
            connection.machine.clientUnsecured(error, hasSeen: false, now: loop.now, &worker.out)
        }
    }

    private var localName: String {
        localAddress.flatMap { IPAddress(bytes: $0.address)?.unmapped.description } ?? "localhost"
    }

    /// - Returns: true if the handshake is complete and the input may be used.
    private func handshakeWentOn(_ received: Received, for connection: Connection) -> Bool {
        if let negotiated = stream?.negotiated {
            awaitsHandshake = false
            connection.worker.metrics.count(negotiated.isResumed ? .clientResumptions : .clientHandshakes)
            connection.machine.clientSecured(negotiated, now: loop.now, &connection.worker.out)
            connection.settle()
            return !connection.isClosed
        }
        switch received {
        case .failed(let fault): handshakeFailed(fault ?? .closedInHandshake, for: connection)
        case .end: handshakeFailed(.closedInHandshake, for: connection)
        case .bytes, .nothing, .wouldBlock: break
        }
        return false
    }

    private func handshakeFailed(_ fault: TLSFault, for connection: Connection) {
        awaitsHandshake = false
        connection.worker.metrics.count(.clientHandshakeFailures)
        connection.machine.clientUnsecured(
            fault, hasSeen: stream?.hasShownItself ?? false, now: loop.now, &connection.worker.out)
        connection.settle()
    }

    // MARK: the end

    /// True once a close or reset has begun.
    var isClosing: Bool { ending != nil }

    /// Handles a client that is gone.
    func lost() {
        guard let connection else { return }
        if awaitsHandshake { return handshakeFailed(.closedInHandshake, for: connection) }
        // a truncated tunnel must not look complete (RFC 9113 §8.5)
        if connection.machine.isTunnel, !connection.machine.http.clientHasEnded,
            let exchange = connection.machine.http.relays.exchange
        {
            connection.leases.streams.relay(of: exchange)?.reset()
        }
        connection.machine.clientLost(now: loop.now, &connection.worker.out)
        connection.settle()
        part()
    }

    /// Detects a lost client that is not being read.
    func look() { if ending == nil, !isGone, !isReading, hasFailed { lost() } }

    /// Ends after the client has received everything queued. A reset would otherwise destroy bytes in flight, including earlier
    /// responses. The idle timeout limits the wait.
    func closeGracefully(_ kind: GracefulClose.Kind) {
        if kind == .close { finish() }
        ending = GracefulClose(kind)
        sendGathered()
        if kind == .close { stopReading() }
        connection?.machine.touched(.client, now: loop.now)
        closeWhereTaken()
    }

    /// Checks whether the client has received everything.
    func closeWhereTaken() {
        guard let connection, queuedBytes == 0, var ending else { return }
        if ending.kind == .reset {
            // the kernel does not notify when the last byte is acknowledged, or when the peer has vanished
            let next = ending.next(untaken: untakenBytes, now: loop.refreshNow())
            self.ending = ending
            if let next { return connection.wake(at: next) }
            reset()
        }
        part()
    }

    /// Resets a client that has received nothing for the idle timeout.
    func giveUp() {
        reset()
        part()
    }

    private func part() {
        guard let connection else { return }
        self.connection = nil
        connection.leases.unbind()
        close()
        connection.clientWent()
    }
}
