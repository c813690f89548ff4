import Authorization
import EventLoop
internal import HTTP1
internal import HTTPCodec
import ProxyCore
import TLSEngine

/// One client connection on its loop: the machine decides, this carries out. The worker's table holds the only lasting
/// reference.
final class Connection {
    /// It outlives its connections, which it lets go of when it is over. Owned, for nothing is to be counted where it is used.
    let worker: Worker
    let client: ClientChannel
    /// Made with the first connection that carries the client's identity.
    @exclusivity(unchecked) var bound: BoundChannels?
    // The loop's alone, and no machine knows of a connection: whoever changes one of these is done before anybody is called. To
    // have that looked at each time costs a tenth of what a request does.

    @exclusivity(unchecked) var machine: ClientConnection
    /// The origins' streams of the exchanges that are under way.
    @exclusivity(unchecked) var streams = StreamTable()
    /// How much of the outbox's body bytes has gone to origins.
    @exclusivity(unchecked) var bodyDone = 0
    /// For whose stream the bytes are that wait to be sent.
    @exclusivity(unchecked) var writing: ExchangeID?
    @exclusivity(unchecked) private var farewell: Farewell?
    @exclusivity(unchecked) private(set) var isClosed = false
    /// The client is gone, and calls are heard to their end.
    @exclusivity(unchecked) private var isClientGone = false
    /// Made with the first wait that has to be over on time.
    private var alarm: Alarm?
    @exclusivity(unchecked) private var settling = Settling()
    /// The client's handshake is under way.
    @exclusivity(unchecked) var awaitsHandshake = false
    /// Place in the worker's table.
    var index = 0
    /// It is counted as one that carries many exchanges.
    var isCounted = false
    /// Somebody is at its other end.
    let isClients: Bool

    /// Reads of one leg in one turn.
    private static let readsPerTurn = 4

    init(worker: Worker, client: ClientChannel, machine: consuming ClientConnection, isClients: Bool = false) {
        self.worker = worker
        self.isClients = isClients
        self.client = client
        self.machine = machine
        client.connection = self
        client.startReading()
    }

    var wakeAt: Int { machine.wakeAt }

    /// The origin's channel that the client's bytes may go to as they are.
    var origin: OriginChannel? { streams.channel }

    // MARK: the client's socket

    func clientReadable() {
        let now = worker.loop.refreshNow()
        worker.loop.pulse.concerns(machine.lastFlow)
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
            if client.queuedBytes > ClientConnection.highWater { client.stopReading() }
            return client.mayHoldMore && client.isReading
        case .wouldBlock: return false
        case .end:
            client.stopReading()
            machine.clientEnded(now: now, &worker.out)
            settle()
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
                    spend(origin)
                }
                noteQueue(of: origin)
            }
            machine.relayedFromClient(count, now: now, &worker.out)
        }
        if count < bytes.count {
            machine.received(UnsafeBufferPointer(rebasing: bytes[count...]).span, now: now, &worker.out)
            if machine.awaitsBody { client.acknowledge() }
        }
        // those that are not read may be by now; no other hangs on what a client says on many streams
        if machine.carriesMany { carryOut() } else { settle() }
    }

    func clientLost() {
        guard !isClosed else { return }
        if awaitsHandshake { return handshakeFailed(.closedInHandshake) }
        // half of what a tunnel carries must not look whole (RFC 9113 §8.5)
        if machine.isTunnel, !machine.clientHasEnded { origin?.reset() }
        machine.clientLost(now: worker.loop.now, &worker.out)
        settle()
        if !isClosed { close() }
    }

    func clientQueueGrew() {
        noteClientQueue()
        settle()
    }

    func clientDrained() {
        if farewell != nil { return bidFarewell() }
        machine.clientDrained(now: worker.loop.now)
        noteClientQueue()
        settle()
    }

    /// A slow reader is not an idle one.
    func progressed(_ leg: Leg, _ id: ExchangeID? = nil) { machine.touched(leg, id, now: worker.loop.refreshNow()) }

    // MARK: back-pressure

    func noteClientQueue(highWater: Int = ClientConnection.highWater) {
        machine.queuedForClient(client.queuedBytes, highWater: highWater, now: worker.loop.now, &worker.out)
    }

    func noteQueue(of origin: OriginChannel, highWater: Int = ClientConnection.highWater) {
        guard let id = origin.exchange else { return }
        machine.queuedForOrigin(origin.queuedBytes, of: id, highWater: highWater, now: worker.loop.now, &worker.out)
    }

    /// Nothing reaches the origin any more.
    func spend(_ origin: OriginChannel) {
        origin.isSpent = true
        guard let id = origin.exchange else { return }
        machine.originLost(id, now: worker.loop.now, &worker.out)
    }

    /// The sockets are read as far as the machine wants it.
    private func applyReading() {
        if !isClientGone { client.read(machine.readsClient && farewell?.kind != .close) }
        // what is full, or no longer, holds all of them up
        let isFull = machine.isClientFull
        let all = settling.concernsAll || isFull != settling.wasClientFull
        settling.wasClientFull = isFull
        settling.concernsAll = false
        streams.read(all: all) { machine.readsOrigin(of: $0) }
    }

    // MARK: the origin's socket

    func originReadable(_ origin: OriginChannel) {
        let now = worker.loop.refreshNow()
        worker.loop.pulse.concerns(machine.lastFlow)
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
                if origin.queuedBytes > ClientConnection.highWater { origin.stopReading() }
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
        guard let id = origin.exchange else { return }
        machine.originEnded(
            through: &origin.leg, for: id, cleanly: !cut, fault: fault, now: worker.loop.now, &worker.out)
        if origin.isWithinLoop, origin.hasHungUp { machine.originLost(id, now: worker.loop.now, &worker.out) }
        settle()
    }

    /// Writing to the origin failed. What it said before is still read; what the client sends goes nowhere.
    func originLost(_ id: ExchangeID) {
        machine.originLost(id, now: worker.loop.now, &worker.out)
        settle()
    }

    private func originBytes(_ origin: OriginChannel, _ bytes: UnsafeBufferPointer<UInt8>, _ now: Int) {
        guard let id = origin.exchange else { return }
        let count = machine.relays(from: .origin, of: bytes.count)
        if count > 0 {
            let sent = client.send(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count])))
            guard sent else { return clientLost() }
            noteClientQueue()
            machine.relayedFromOrigin(count, through: &origin.leg, for: id, now: now, &worker.out)
        }
        if count < bytes.count {
            machine.received(
                UnsafeBufferPointer(rebasing: bytes[count...]).span, through: &origin.leg, for: id, now: now,
                &worker.out)
        }
        settle(of: id)
    }

    func originDrained(_ id: ExchangeID) {
        guard let stream = streams.stream(id) else { return }
        machine.queuedForOrigin(stream.queuedBytes, of: id, now: worker.loop.now, &worker.out)
        settle(of: id)
    }

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
        channel.connection = self
        channel.exchange = id
        attach(OriginStream(channel: channel, id: nil), id, reused: reused)
    }

    func attach(_ stream: OriginStream, _ id: ExchangeID, reused: Bool) {
        streams[id] = .stream(stream)
        machine.leased(id, reused: reused, sendsRaw: stream.id == nil, now: worker.loop.now, &worker.out)
    }

    // MARK: time

    /// The machine is woken at that time, and not only by the next sweep.
    func wake(at time: Int) {
        guard !isClosed else { return }
        // without memory for a timer the next sweep sees to it
        if alarm == nil { alarm = try? Alarm(loop: worker.loop) { [unowned self] in rang() } }
        // the clock has whole milliseconds: rung too soon, it would have to be set once more
        _ = alarm?.set(milliseconds: time - worker.loop.now + 1)
    }

    private func rang() {
        if farewell != nil, !isClientGone { return bidFarewell() }
        if machine.wakeAt <= worker.loop.now { sweep(worker.loop.now) }
    }

    func sweep(_ now: Int) {
        if !isClientGone, client.isTaking() { machine.touched(.client, now: now) }
        streams.forEachStream { id, stream in
            if stream.channel.isTaking() { machine.touched(.origin, id, now: now) }
        }
        if farewell != nil, !isClientGone, machine.deadline <= now {
            // the machine is over, and the client has taken nothing for as long as it may be idle
            client.reset()
            return close()
        }
        machine.woke(now: now, &worker.out)
        settle()
    }

    /// Whose bytes nobody reads says by no read that it has gone.
    func lookForClient() {
        if farewell == nil, !isClientGone, !client.isReading, client.hasFailed { clientLost() }
    }

    /// Closes between two requests, as in a drain.
    func closeIfIdle() {
        if farewell != nil { return }
        if machine.isIdle {
            machine.sayGoodbye(&worker.out)
            flushClient()
            return closeGently()
        }
        if machine.leave(now: worker.loop.now, &worker.out) { settle() }
    }

    /// No more requests are taken: lets go of calls whose answers are of use to nobody then.
    func giveUpUnawaited() {
        guard !isClosed, machine.hasOrphans else { return }
        machine.giveUpUnawaited(now: worker.loop.now, &worker.out)
        settle()
    }

    /// Makes a call that no client waits for.
    func run(_ errand: Errand, _ report: @escaping (String?) -> Void) {
        machine.run(errand, now: worker.loop.now, &worker.out, report)
        settle()
    }

    /// Closes in the middle of whatever is under way.
    func cut() { if isClientGone { end() } else { clientLost() } }

    // MARK: orders

    /// Writes what the machine wrote and carries out its orders, until there are none.
    /// What happened may concern all exchanges.
    func settle() {
        settling.concernsAll = true
        carryOut()
    }

    /// - Parameter id: what happened concerns that exchange alone.
    func settle(of id: ExchangeID) {
        streams.note(id)
        carryOut()
    }

    /// Those concerned are noted.
    private func carryOut() {
        // an order's outcome may come at once and call back in here; the outer round goes on with what it left
        guard !settling.isUnderWay else { return }
        settling.isUnderWay = true
        let worker = worker
        var done = 0
        while true {
            guard done < worker.out.orders.count else {
                // what the client does not take, nor the origin, may lead to further orders
                flushClient()
                // another connection, which this led to, may have been done with its own and cleared them
                guard done >= worker.out.orders.count else { continue }
                guard writing != nil else { break }
                flushOrigin()
                continue
            }
            let order = worker.out.takeOrder(done)
            done += 1
            if !worker.out.client.isEmpty || order.mayConcernClient { flushClient() }
            if !write(order) {
                flushOrigin()
                perform(order)
            }
        }
        worker.out.clearOrders()
        worker.out.clearOrigin()
        bodyDone = 0
        settling.isUnderWay = false
        guard !isClosed else { return }
        if isClientGone, !machine.hasOrphans { return end() }
        applyReading()
        if worker.closesIdle { closeIfIdle() }
    }

    private func flushClient() {
        machine.flush(&worker.out)
        guard !worker.out.client.isEmpty else { return }
        let carriesMany = machine.carriesMany
        let sent = worker.out.client.withUnsafeBytes { carriesMany ? client.gather($0) : client.send($0) }
        worker.out.clearClient()
        if !sent, !isClosed {
            machine.clientLost(now: worker.loop.now, &worker.out)
        } else {
            noteClientQueue()
        }
    }

    /// Closes once the client has taken what is queued for it. It may be idle while it does so, but not for ever.
    func closeGently() {
        client.finish()
        leave(.close)
    }

    /// Resets the client's connection once it has taken what came before: a reset takes along what is still on its way, earlier
    /// answers, too.
    func resetGently() { leave(.reset) }

    private func leave(_ kind: Farewell.Kind) {
        farewell = Farewell(kind)
        client.sendGathered()
        if kind == .close { client.stopReading() }
        machine.touched(.client, now: worker.loop.now)
        bidFarewell()
    }

    private func bidFarewell() {
        guard !isClosed, !isClientGone, client.queuedBytes == 0, var farewell else { return }
        if farewell.kind == .reset {
            // the kernel tells nobody when the last of it was taken, nor that nobody is there to take it
            let next = farewell.next(untaken: client.untakenBytes, now: worker.loop.refreshNow())
            self.farewell = farewell
            if let next { return wake(at: next) }
            client.reset()
        }
        close()
    }

    func close() {
        guard !isClosed, !isClientGone else { return }
        isClientGone = true
        unbind()
        client.connection = nil
        client.close()
        if !machine.hasOrphans { end() }
    }

    private func end() {
        guard !isClosed else { return }
        isClosed = true
        while let id = streams.any { release(id, false) }
        alarm?.cancel()
        worker.closed(self)
    }
}
