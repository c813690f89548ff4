import EventLoop
import Interception
import ProxyCore
import TLSEngine

/// One client connection on its loop: the session decides, this carries out. The worker's table holds the only lasting
/// reference.
final class Connection {
    unowned(unsafe) let worker: Worker
    let client: ClientChannel
    private var origin: OriginChannel?
    /// Made with the first connection that carries the client's identity.
    var bound: BoundChannels?
    private var dial: Dial?
    var session: Session
    private var fromClient = Relay()
    private var fromOrigin = Relay()
    private var isTunnel = false
    private var clientEnded = false
    private var originEnded = false
    /// The session asked for silence, for reasons of its own.
    private var clientPaused = false
    private var closesWhenDrained = false
    /// `proceed` waits until the client has taken enough of the answers before.
    private var proceedsLater = false
    private(set) var isClosed = false
    private var isSettling = false
    /// The client's handshake is under way.
    var awaitsHandshake = false
    /// Place in the worker's table.
    var index = 0

    /// Queued bytes on one leg above which the other leg is no longer read, and below which it is again. A client that has
    /// so much to take gets no further answers either.
    private static let highWater = 256 << 10
    private static let lowWater = 64 << 10
    /// Reads of one leg in one turn.
    private static let readsPerTurn = 4

    private struct Relay {
        var remaining: UInt64 = 0
        var moved: UInt64 = 0
    }

    init(worker: Worker, client: ClientChannel, session: consuming Session) {
        self.worker = worker
        self.client = client
        self.session = session
        client.connection = self
        client.startReading()
    }

    var wakeAt: Int { session.wakeAt }

    // MARK: the client's socket

    func clientReadable() {
        let now = worker.loop.refreshNow()
        for _ in 0..<Self.readsPerTurn {
            guard clientReceived(client.receive(), now) else { return }
        }
    }

    /// - Returns: true where more may be read in this turn.
    func clientReceived(_ received: StreamChannel.Received, _ now: Int) -> Bool {
        if awaitsHandshake, !handshakeWentOn(received, now) { return false }
        switch received {
        case .bytes:
            clientBytes(client.incoming, now)
            return fromClient.remaining > 0 && client.mayHoldMore && client.isReading
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
                session.ended(.client, relayed: fromClient.moved, now: now, &worker.out)
                settle()
            }
            return false
        case .failed:
            clientLost()
            return false
        }
    }

    private func clientBytes(_ bytes: UnsafeBufferPointer<UInt8>, _ now: Int) {
        var start = 0
        if fromClient.remaining > 0 {
            var isGone = false
            start = move(bytes, &fromClient, to: origin, &isGone)
            // what the origin said before it went may still be read
            if isGone { origin?.isSpent = true }
            session.touched(.origin, now: now)
            if let origin, origin.queuedBytes > Self.highWater { client.stopReading() }
            if fromClient.remaining == 0 {
                session.relayed(from: .client, count: fromClient.moved, now: now, &worker.out)
            }
        }
        if start < bytes.count {
            session.received(
                UnsafeBufferPointer(rebasing: bytes[start...]).span, on: .client, now: now, &worker.out)
        }
        settle()
    }

    func clientLost() {
        guard !isClosed else { return }
        if awaitsHandshake { return handshakeFailed(.closedInHandshake) }
        if isTunnel { closeTunnel() } else { session.clientLost(now: worker.loop.now, &worker.out) }
        settle()
        if !isClosed { close() }
    }

    func clientDrained() {
        if closesWhenDrained { return close() }
        session.clientDrained(now: worker.loop.now)
        readOn()
        if isTunnel { closeTunnelWhenDone() }
    }

    /// A slow reader is not an idle one.
    func progressed(_ leg: Leg) {
        session.touched(leg, now: worker.loop.refreshNow())
        readOn()
    }

    /// Takes up what back-pressure had put off, as far as nothing else holds it.
    private func readOn() {
        guard !isClosed else { return }
        if client.queuedBytes < Self.lowWater {
            if let origin, !originEnded { origin.startReading() }
            if proceedsLater {
                proceedsLater = false
                session.proceed(now: worker.loop.now, &worker.out)
                settle()
            }
        }
        readClient()
    }

    private func readClient() {
        guard !clientEnded, !clientPaused, !isClosed else { return }
        if let origin, origin.queuedBytes >= Self.lowWater { return }
        if client.queuedBytes >= Self.lowWater, session.awaitsRequest { return }
        client.startReading()
    }

    // MARK: the origin's socket

    func originReadable() {
        let now = worker.loop.refreshNow()
        for _ in 0..<Self.readsPerTurn {
            guard let origin else { return }
            switch origin.receiveAnswer() {
            case .bytes:
                originBytes(origin.incoming, now)
                guard fromOrigin.remaining > 0, origin.mayHoldMore, self.origin?.isReading == true else { return }
            case .nothing:
                if origin.queuedBytes > Self.highWater { origin.stopReading() }
                guard origin.mayHoldMore, origin.isReading else { return }
            case .wouldBlock: return
            case .end(let isWhole): return originFinished(cut: !isWhole)
            case .failed(let fault): return originFinished(cut: true, fault: fault)
            }
        }
    }

    /// The origin will say no more.
    /// - Parameters:
    ///   - cut: what it said may be incomplete, and it hears nothing either.
    ///   - fault: why TLS broke, where that is what broke.
    func originFinished(cut: Bool, fault: TLSFault? = nil) {
        originEnded = true
        origin?.stopReading()
        if cut { origin?.isSpent = true }
        if isTunnel { return tunnelEnded(.origin) }
        session.ended(
            .origin, relayed: fromOrigin.moved, cleanly: !cut, fault: fault, now: worker.loop.now, &worker.out)
        settle()
    }

    /// Writing to the origin failed. What it said before is still read; what the client sends goes nowhere.
    func originMute() {
        if isTunnel, originEnded { return tunnelEnded(.origin) }
        readClient()
    }

    private func originBytes(_ bytes: UnsafeBufferPointer<UInt8>, _ now: Int) {
        var start = 0
        if fromOrigin.remaining > 0 {
            var isGone = false
            start = move(bytes, &fromOrigin, to: client, &isGone)
            if isGone { return clientLost() }
            session.touched(.client, now: now)
            if client.queuedBytes > Self.highWater { origin?.stopReading() }
            if fromOrigin.remaining == 0 {
                // bytes behind the answer: the next request must not take them for its own
                if start < bytes.count { origin?.isSpent = true }
                session.relayed(from: .origin, count: fromOrigin.moved, now: now, &worker.out)
            }
        }
        if start < bytes.count {
            session.received(
                UnsafeBufferPointer(rebasing: bytes[start...]).span, on: .origin, now: now, &worker.out)
        }
        settle()
    }

    func originDrained() {
        readClient()
        if isTunnel { closeTunnelWhenDone() }
    }

    /// Moves the first bytes to the other leg, without a look at them. Changes nothing else: the relay is being written to.
    private func move(
        _ bytes: UnsafeBufferPointer<UInt8>, _ relay: inout Relay, to target: StreamChannel?, _ isGone: inout Bool
    ) -> Int {
        let taken = Int(min(relay.remaining, UInt64(bytes.count)))
        if relay.remaining != .max { relay.remaining -= UInt64(taken) }
        relay.moved += UInt64(taken)
        if let target {
            isGone = !target.send(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<taken])))
        }
        return taken
    }

    private func tunnelEnded(_ leg: Leg) {
        if leg == .client { origin?.finish() } else { client.finish() }
        if originEnded, isOriginMute, !clientEnded {
            // nobody is left to hear the client
            clientEnded = true
            client.stopReading()
        }
        closeTunnelWhenDone()
    }

    private var isOriginMute: Bool { origin?.isSpent ?? true }

    private func closeTunnelWhenDone() {
        // what is queued on either side still goes out
        guard !isClosed, clientEnded, originEnded, client.queuedBytes == 0,
            isOriginMute || origin?.queuedBytes == 0
        else { return }
        closeTunnel()
        settle()
    }

    /// However a tunnel ends, what went through it is counted.
    private func closeTunnel() {
        session.tunnelClosed(
            toOrigin: fromClient.moved, toClient: fromOrigin.moved, now: worker.loop.now, &worker.out)
    }

    // MARK: the dial's outcome

    /// - Parameter first: what the origin said before it was asked.
    func dialed(_ channel: OriginChannel, first: [UInt8]) {
        dial = nil
        attach(channel, reused: false)
        settle()
        guard !first.isEmpty, origin === channel else { return }
        session.received(first.span, on: .origin, now: worker.loop.now, &worker.out)
        settle()
    }

    func dialFailed(_ failure: LeaseFailure) {
        dial = nil
        session.leaseFailed(failure, now: worker.loop.now, &worker.out)
        settle()
    }

    private func attach(_ channel: OriginChannel, reused: Bool) {
        origin = channel
        originEnded = false
        channel.connection = self
        channel.startReading()
        session.leased(reused: reused, now: worker.loop.now, &worker.out)
    }

    /// A password was checked that took its time.
    func authenticated(_ verdict: PasswordVerdict, flow: UInt64) {
        guard !isClosed else { return }
        session.authenticated(verdict, flow: flow, now: worker.loop.now, &worker.out)
        settle()
    }

    // MARK: time

    func sweep(_ now: Int) {
        if client.isTaking() { session.touched(.client, now: now) }
        if origin?.isTaking() == true { session.touched(.origin, now: now) }
        if closesWhenDrained {
            guard session.deadline <= now else { return }
            // the session is over, and the client has taken nothing for as long as it may be idle
            client.reset()
            return close()
        }
        if isTunnel, session.deadline <= now { closeTunnel() } else { session.woke(now: now, &worker.out) }
        settle()
    }

    /// Closes between two requests, as in a drain.
    func closeIfIdle() {
        if session.isIdle, !closesWhenDrained { closeGently() }
    }

    /// Closes in the middle of whatever is under way.
    func cut() { clientLost() }

    // MARK: orders

    /// Writes what the session wrote and carries out its orders, until there are none.
    func settle() {
        // an order's outcome may come at once and call back in here; the outer round goes on with what it left
        guard !isSettling else { return }
        isSettling = true
        var done = 0
        while true {
            flush()
            guard done < worker.out.orders.count else { break }
            let order = worker.out.orders[done]
            done += 1
            perform(order)
        }
        worker.out.clearOrders()
        isSettling = false
        guard !isClosed else { return }
        if client.queuedBytes > Self.highWater, session.awaitsRequest { client.stopReading() }
        if worker.isDraining { closeIfIdle() }
    }

    private func flush() {
        if !worker.out.client.isEmpty {
            let sent = worker.out.client.withUnsafeBytes { client.send($0) }
            worker.out.clearClient()
            if !sent, !isClosed {
                session.clientLost(now: worker.loop.now, &worker.out)
            } else if client.queuedBytes > Self.highWater {
                origin?.stopReading()
            }
        }
        if !worker.out.origin.isEmpty {
            if let origin {
                let sent = worker.out.origin.withUnsafeBytes { origin.send($0) }
                if !sent { origin.isSpent = true }
                if origin.queuedBytes > Self.highWater { client.stopReading() }
            }
            worker.out.clearOrigin()
        }
    }

    private func perform(_ order: Order) {
        switch order {
        case .lease(let wanted, let scope):
            guard !isClosed else { return }
            if let channel = idle(wanted, scope) {
                attach(channel, reused: true)
            } else {
                let dial = Dial(wanted, for: self, worker: worker)
                self.dial = dial
                dial.start()
            }
        case .bind: origin?.isBound = true
        case .unbind: unbind()
        case .relay(let leg, let count):
            let relay = Relay(remaining: count)
            if leg == .client { fromClient = relay } else { fromOrigin = relay }
        case .tunnel:
            isTunnel = true
            fromClient = Relay(remaining: .max)
            fromOrigin = Relay(remaining: .max)
            // a client may have ended before its request became a tunnel
            if clientEnded { tunnelEnded(.client) }
        case .secureClient(let name, let hello): secureClient(showing: name, hello)
        case .pause:
            clientPaused = true
            client.stopReading()
        case .resume:
            clientPaused = false
            readClient()
        case .release(let reusable): release(reusable)
        case .finishClient:
            client.finish()
            if client.queuedBytes == 0 { session.clientDrained(now: worker.loop.now) }
            if clientEnded { closeGently() }
        case .closeClient(let reset):
            if reset {
                client.reset()
                close()
            } else {
                closeGently()
            }
        case .authenticate(let check):
            guard let verdict = worker.verdict(on: check, for: self) else { return }
            session.authenticated(verdict, flow: check.flow, now: worker.loop.now, &worker.out)
        case .record: worker.recorder.record(session.record)
        case .proceed:
            if client.queuedBytes > Self.highWater {
                proceedsLater = true
            } else {
                session.proceed(now: worker.loop.now, &worker.out)
            }
        }
    }

    private func release(_ reusable: Bool) {
        fromClient = Relay()
        fromOrigin = Relay()
        dial?.cancel()
        dial = nil
        guard let channel = origin else { return }
        origin = nil
        channel.connection = nil
        keep(channel, reusable && !originEnded)
        // the client may have been held back for this origin's sake
        readClient()
    }

    /// Closes once the client has taken what is queued for it. It may be idle while it does so, but not for ever.
    private func closeGently() {
        client.finish()
        guard client.queuedBytes > 0 else { return close() }
        closesWhenDrained = true
        clientEnded = true
        client.stopReading()
        session.touched(.client, now: worker.loop.now)
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        release(false)
        unbind()
        client.connection = nil
        client.close()
        worker.closed(self)
    }
}
