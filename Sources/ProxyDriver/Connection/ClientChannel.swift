internal import Addresses
import EventLoop
internal import HTTPCodec
import Metrics
import ProxyCore
import TLSEngine

/// The client's side of a connection: what comes from there, the TLS that begins on it, and how it ends. Its connection holds it, so
/// the way back owns nothing.
final class ClientChannel: StreamChannel {
    /// Nil once the client is gone.
    @Unretained private var connection: Connection?
    private var ending: GracefulClose?
    /// The client's handshake is under way.
    private var awaitsHandshake = false

    /// From here on that connection hears of what comes.
    func begin(for connection: Connection) {
        self.connection = connection
        startReading()
    }

    var isGone: Bool { connection == nil }

    // MARK: what the loop tells

    override func readable() {
        guard let connection else { return }
        let now = loop.refreshNow()
        loop.pulse.concerns(connection.machine.lastFlow)
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

    // MARK: what comes

    /// - Returns: true where more may be read in this turn.
    private func received(_ received: Received, for connection: Connection, _ now: Int) -> Bool {
        if awaitsHandshake, !handshakeWentOn(received, for: connection) { return false }
        switch received {
        case .bytes:
            came(incoming, for: connection, now)
            return connection.machine.isRelaying(from: .client) && mayHoldMore && isReading
        case .nothing:
            // what TLS answers by itself has to be taken, too
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
        let count = connection.machine.relays(from: .client, of: bytes.count)
        if count > 0 {
            if let (exchange, origin) = connection.leases.streams.relay {
                // what the origin said before it went may still be read
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

    /// Bytes that nobody here needs to see pass from socket to socket inside the kernel, where there are many of them.
    /// - Returns: nil where they have to be read; else whether more may pass in this turn.
    private func pass(for connection: Connection, _ now: Int) -> Bool? {
        guard comesInBulk, let (exchange, origin) = connection.leases.streams.relay,
            let outcome = pass(to: origin, atMost: connection.machine.relays(from: .client, of: Self.maxPassed))
        else { return nil }
        switch outcome {
        case .wouldBlock: return false
        case .end: return received(.end(isWhole: true), for: connection, now)
        case .failed: return received(.failed(nil), for: connection, now)
        case .bytes(let count, let isHeard):
            // what the origin said before it went may still be read
            if !isHeard { connection.spend(origin, of: exchange) }
            // it passes on again once nothing is left of it
            connection.noteQueue(of: origin, exchange, highWater: 0)
            connection.machine.relayedFromClient(count, now: now, &connection.worker.out)
            connection.settle()
            return connection.machine.isRelaying(from: .client) && isReading
        }
    }

    /// It is read where that is wanted, unless it is about to be closed.
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

    /// - Returns: true where the handshake is done, and what came behind it may be used.
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

    /// It has begun to close, or to be reset.
    var isClosing: Bool { ending != nil }

    /// Nobody is there any more.
    func lost() {
        guard let connection else { return }
        if awaitsHandshake { return handshakeFailed(.closedInHandshake, for: connection) }
        // half of what a tunnel carries must not look whole (RFC 9113 §8.5)
        if connection.machine.isTunnel, !connection.machine.clientHasEnded {
            connection.leases.streams.relay?.channel.reset()
        }
        connection.machine.clientLost(now: loop.now, &connection.worker.out)
        connection.settle()
        part()
    }

    /// Whose bytes nobody reads says by no read that it has gone.
    func look() { if ending == nil, !isGone, !isReading, hasFailed { lost() } }

    /// Ends once the client has taken what is queued for it: by a close, or by a reset, which would take along what is still on its way,
    /// earlier answers, too. The client may be idle while it does so, but not for ever.
    func closeGracefully(_ kind: GracefulClose.Kind) {
        if kind == .close { finish() }
        ending = GracefulClose(kind)
        sendGathered()
        if kind == .close { stopReading() }
        connection?.machine.touched(.client, now: loop.now)
        closeWhereTaken()
    }

    /// Looks whether the client has taken all.
    func closeWhereTaken() {
        guard let connection, queuedBytes == 0, var ending else { return }
        if ending.kind == .reset {
            // the kernel tells nobody when the last of it was taken, nor that nobody is there to take it
            let next = ending.next(untaken: untakenBytes, now: loop.refreshNow())
            self.ending = ending
            if let next { return connection.wake(at: next) }
            reset()
        }
        part()
    }

    /// The client has taken nothing for as long as it may be idle.
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
