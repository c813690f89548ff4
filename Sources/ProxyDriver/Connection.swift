import EventLoop
internal import HTTP1
internal import HTTPCodec
import Interception
import ProxyCore
import TLSEngine

/// One client connection on its loop: the machine decides, this carries out. The worker's table holds the only lasting
/// reference.
final class Connection {
    unowned(unsafe) let worker: Worker
    let client: ClientChannel
    /// The origins' streams of the exchanges that are under way.
    var streams = StreamTable()
    /// Made with the first connection that carries the client's identity.
    var bound: BoundChannels?
    var machine: ClientConnection
    /// Whose streams feed each other.
    var tunnel: ExchangeID?
    var clientEnded = false
    /// How much of the outbox's body bytes has gone to origins.
    var bodyDone = 0
    /// For whose stream the bytes are that wait to be sent.
    var writing: ExchangeID?
    /// The machine asked for silence, for reasons of its own.
    var clientPaused = false
    private var closesWhenDrained = false
    /// `proceed` waits until the client has taken enough of the answers before.
    var proceedsLater = false
    private(set) var isClosed = false
    private var isSettling = false
    /// The client's handshake is under way.
    var awaitsHandshake = false
    /// Place in the worker's table.
    var index = 0

    /// Queued bytes on one leg above which the other leg is no longer read, until all of them are gone. A client that has
    /// so much to take gets no further answers either. The kernel's own buffers are what keeps a fast peer busy meanwhile:
    /// it asks for more when a third of them is free.
    static let highWater = 16 << 10
    /// Reads of one leg in one turn.
    private static let readsPerTurn = 4

    init(worker: Worker, client: ClientChannel, machine: consuming ClientConnection) {
        self.worker = worker
        self.client = client
        self.machine = machine
        client.connection = self
        client.startReading()
    }

    var wakeAt: Int { machine.wakeAt }

    /// The origin's channel in use: HTTP/1 clients have one exchange at a time, and it one stream.
    var origin: OriginChannel? { streams.channel }
    private var originEnded: Bool { streams.channel?.hasEnded ?? false }
    var isTunnel: Bool { tunnel != nil }

    // MARK: the client's socket

    func clientReadable() {
        let now = worker.loop.refreshNow()
        for _ in 0..<Self.readsPerTurn {
            guard passFromClient(now) ?? clientReceived(client.receive(), now) else { return }
        }
    }

    /// - Returns: true where more may be read in this turn.
    func clientReceived(_ received: StreamChannel.Received, _ now: Int) -> Bool {
        if awaitsHandshake, !handshakeWentOn(received, now) { return false }
        switch received {
        case .bytes:
            clientBytes(client.incoming, now)
            return machine.isRelaying(from: .client) && client.mayHoldMore && client.isReading
        case .nothing:
            // what TLS answers by itself has to be taken, too
            if client.queuedBytes > Self.highWater { client.stopReading() }
            return client.mayHoldMore && client.isReading
        case .wouldBlock: return false
        case .end:
            clientEnded = true
            client.stopReading()
            if isTunnel {
                tunnelEnded(.client)
            } else {
                machine.clientEnded(now: now, &worker.out)
                settle()
            }
            return false
        case .failed:
            clientLost()
            return false
        }
    }

    private func clientBytes(_ bytes: UnsafeBufferPointer<UInt8>, _ now: Int) {
        let count = machine.relays(from: .client, of: bytes.count)
        if count > 0 {
            if let origin {
                // what the origin said before it went may still be read
                if !origin.send(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count]))) {
                    origin.isSpent = true
                }
                if origin.queuedBytes > Self.highWater { client.stopReading() }
            }
            machine.relayedFromClient(count, now: now, &worker.out)
        }
        if count < bytes.count {
            machine.received(UnsafeBufferPointer(rebasing: bytes[count...]).span, now: now, &worker.out)
        }
        settle()
    }

    func clientLost() {
        guard !isClosed else { return }
        if awaitsHandshake { return handshakeFailed(.closedInHandshake) }
        if isTunnel { closeTunnel() } else { machine.clientLost(now: worker.loop.now, &worker.out) }
        settle()
        if !isClosed { close() }
    }

    func clientDrained() {
        if closesWhenDrained { return close() }
        machine.clientDrained(now: worker.loop.now)
        readOn()
        if isTunnel { closeTunnelWhenDone() }
    }

    /// A slow reader is not an idle one.
    func progressed(_ leg: Leg) {
        machine.touched(leg, now: worker.loop.refreshNow())
        readOn()
    }

    /// Takes up what back-pressure had put off, as far as nothing else holds it.
    private func readOn() {
        guard !isClosed else { return }
        if client.queuedBytes == 0 {
            if let origin, !originEnded { origin.startReading() }
            if proceedsLater {
                proceedsLater = false
                machine.proceed(now: worker.loop.now, &worker.out)
                settle()
            }
        }
        readClient()
    }

    func readClient() {
        guard !clientEnded, !clientPaused, !isClosed else { return }
        if let origin, origin.queuedBytes > 0 { return }
        if client.queuedBytes > 0, machine.awaitsRequest { return }
        client.startReading()
    }

    // MARK: the origin's socket

    func originReadable(_ origin: OriginChannel) {
        let now = worker.loop.refreshNow()
        for _ in 0..<Self.readsPerTurn {
            if let goesOn = passFromOrigin(origin, now) {
                if goesOn { continue }
                return
            }
            switch origin.receiveResponse() {
            case .bytes:
                originBytes(origin, origin.incoming, now)
                guard machine.isRelaying(from: .origin), origin.mayHoldMore, origin.connection === self,
                    origin.isReading
                else { return }
            case .nothing:
                if origin.queuedBytes > Self.highWater { origin.stopReading() }
                guard origin.mayHoldMore, origin.isReading else { return }
            case .wouldBlock: return
            case .end(let isWhole): return originFinished(origin, cut: !isWhole)
            case .failed(let fault): return originFinished(origin, cut: true, fault: fault)
            }
        }
    }

    /// The origin will say no more.
    /// - Parameters:
    ///   - cut: what it said may be incomplete, and it hears nothing either.
    ///   - fault: why TLS broke, where that is what broke.
    func originFinished(_ origin: OriginChannel, cut: Bool, fault: TLSFault? = nil) {
        origin.hasEnded = true
        origin.stopReading()
        if cut { origin.isSpent = true }
        if isTunnel { return tunnelEnded(.origin) }
        guard let id = origin.exchange else { return }
        machine.originEnded(
            through: &origin.leg, for: id, cleanly: !cut, fault: fault, now: worker.loop.now, &worker.out)
        settle()
    }

    /// Writing to the origin failed. What it said before is still read; what the client sends goes nowhere.
    func originWriteFailed() {
        if isTunnel, originEnded { return tunnelEnded(.origin) }
        readClient()
    }

    private func originBytes(_ origin: OriginChannel, _ bytes: UnsafeBufferPointer<UInt8>, _ now: Int) {
        guard let id = origin.exchange else { return }
        let count = machine.relays(from: .origin, of: bytes.count)
        if count > 0 {
            let sent = client.send(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count])))
            guard sent else { return clientLost() }
            if client.queuedBytes > Self.highWater { origin.stopReading() }
            machine.relayedFromOrigin(count, through: &origin.leg, for: id, now: now, &worker.out)
        }
        if count < bytes.count {
            machine.received(
                UnsafeBufferPointer(rebasing: bytes[count...]).span, through: &origin.leg, for: id, now: now,
                &worker.out)
        }
        settle()
    }

    func originDrained() {
        readClient()
        if isTunnel { closeTunnelWhenDone() }
    }

    func tunnelEnded(_ leg: Leg) {
        if leg == .client { origin?.finish() } else { client.finish() }
        if originEnded, isOriginUnwritable, !clientEnded {
            // nobody is left to hear the client
            clientEnded = true
            client.stopReading()
        }
        closeTunnelWhenDone()
    }

    private var isOriginUnwritable: Bool { origin?.isSpent ?? true }

    private func closeTunnelWhenDone() {
        // what is queued on either side still goes out
        guard !isClosed, clientEnded, originEnded, client.queuedBytes == 0,
            isOriginUnwritable || origin?.queuedBytes == 0
        else { return }
        closeTunnel()
        settle()
    }

    private func closeTunnel() { machine.tunnelClosed(now: worker.loop.now, &worker.out) }

    // MARK: the dial's outcome

    /// - Parameter first: what the origin said before it was asked.
    func dialed(_ channel: OriginChannel, for id: ExchangeID, first: [UInt8]) {
        attach(channel, id, reused: false)
        settle()
        guard !first.isEmpty, channel.connection === self else { return }
        machine.received(first.span, through: &channel.leg, for: id, now: worker.loop.now, &worker.out)
        settle()
    }

    func dialFailed(_ failure: LeaseFailure, for id: ExchangeID) {
        streams.remove(id)
        machine.leaseFailed(failure, id, now: worker.loop.now, &worker.out)
        settle()
    }

    func attach(_ channel: OriginChannel, _ id: ExchangeID, reused: Bool) {
        streams[id] = .channel(channel)
        channel.connection = self
        channel.exchange = id
        channel.startReading()
        machine.leased(id, reused: reused, now: worker.loop.now, &worker.out)
    }

    /// A password was checked that took its time.
    func authenticated(_ verdict: PasswordVerdict, _ id: ExchangeID) {
        guard !isClosed else { return }
        machine.authenticated(verdict, id, now: worker.loop.now, &worker.out)
        settle()
    }

    // MARK: time

    func sweep(_ now: Int) {
        if client.isTaking() { machine.touched(.client, now: now) }
        if origin?.isTaking() == true { machine.touched(.origin, now: now) }
        if closesWhenDrained {
            guard machine.wakeAt <= now else { return }
            // the machine is over, and the client has taken nothing for as long as it may be idle
            client.reset()
            return close()
        }
        if isTunnel, machine.wakeAt <= now { closeTunnel() } else { machine.woke(now: now, &worker.out) }
        settle()
    }

    /// Closes between two requests, as in a drain.
    func closeIfIdle() {
        if machine.isIdle, !closesWhenDrained { closeGently() }
    }

    /// Closes in the middle of whatever is under way.
    func cut() { clientLost() }

    // MARK: orders

    /// Writes what the machine wrote and carries out its orders, until there are none.
    func settle() {
        // an order's outcome may come at once and call back in here; the outer round goes on with what it left
        guard !isSettling else { return }
        isSettling = true
        var done = 0
        while true {
            flushClient()
            guard done < worker.out.orders.count else { break }
            let order = worker.out.orders[done]
            done += 1
            if !write(order) {
                flushOrigin()
                perform(order)
            }
        }
        flushOrigin()
        worker.out.clearOrders()
        worker.out.clearOrigin()
        bodyDone = 0
        isSettling = false
        guard !isClosed else { return }
        if client.queuedBytes > Self.highWater, machine.awaitsRequest { client.stopReading() }
        if worker.isDraining { closeIfIdle() }
    }

    private func flushClient() {
        guard !worker.out.client.isEmpty else { return }
        let sent = worker.out.client.withUnsafeBytes { client.send($0) }
        worker.out.clearClient()
        if !sent, !isClosed {
            machine.clientLost(now: worker.loop.now, &worker.out)
        } else if client.queuedBytes > Self.highWater {
            origin?.stopReading()
        }
    }

    /// Closes once the client has taken what is queued for it. It may be idle while it does so, but not for ever.
    func closeGently() {
        client.finish()
        guard client.queuedBytes > 0 else { return close() }
        closesWhenDrained = true
        clientEnded = true
        client.stopReading()
        machine.touched(.client, now: worker.loop.now)
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        while let id = streams.any { release(id, false) }
        unbind()
        client.connection = nil
        client.close()
        worker.closed(self)
    }
}
