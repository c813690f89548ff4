import EventLoop
internal import HTTPCodec
import ProxyCore

/// One client connection on its loop: the machine decides, and this carries out what it orders. The worker's table holds the only
/// lasting reference.
final class Connection {
    /// It outlives its connections, which it lets go of when it is over. Owned, for nothing is to be counted where it is used.
    let worker: Worker
    let client: ClientChannel
    let leases: OriginLeases
    var machine: ClientConnection
    private var writer = RequestWriter()
    private var settling = Settling()
    private(set) var isClosed = false
    /// Made with the first wait that has to be over on time.
    private var alarm: Alarm?
    /// Place in the worker's table.
    var index = 0
    /// It is counted as one that carries many exchanges.
    var isCounted = false
    /// Somebody is at its other end.
    let isClients: Bool

    /// Reads of one side in one turn.
    static let readsPerTurn = 4

    init(worker: Worker, client: ClientChannel, machine: consuming ClientConnection, isClients: Bool = false) {
        self.worker = worker
        self.isClients = isClients
        self.client = client
        self.machine = machine
        leases = OriginLeases(worker)
        client.begin(for: self)
    }

    // MARK: orders

    /// Writes what the machine wrote and carries out its orders, until there are none.
    /// What happened may concern all exchanges.
    func settle() {
        settling.concernsAll = true
        carryOut()
    }

    /// - Parameter id: what happened concerns that exchange alone.
    func settle(of id: ExchangeID) {
        leases.note(id)
        carryOut()
    }

    /// Something came of the client. Exchanges that are not read may be by now; no other hangs on what is said on many streams.
    func settleClient() { if machine.carriesMany { carryOut() } else { settle() } }

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
                guard writer.isWriting else { break }
                writer.flush(of: self)
                continue
            }
            let order = worker.out.takeOrder(done)
            done += 1
            if !worker.out.client.isEmpty || order.mayConcernClient { flushClient() }
            if !writer.write(order, of: self) {
                writer.flush(of: self)
                perform(order)
            }
        }
        worker.out.clearOrders()
        worker.out.clearOrigin()
        writer.end()
        settling.isUnderWay = false
        guard !isClosed else { return }
        if client.isGone, !machine.hasOrphans { return end() }
        applyReading()
        if worker.closesIdle { closeIfIdle() }
    }

    private func perform(_ order: Order) {
        switch order {
        case .lease(let id, let wanted, let scope, let version):
            guard !isClosed else { return }
            leases.lease(wanted, LeaseRequest(connection: self, exchange: id, scope: scope, version: version))
        case .reach(let id, let wanted):
            if !isClosed { leases.reach(wanted, id, for: self) }
        case .carry(let id): leases.carry(id, for: self)
        case .send, .sendBody, .sendRaw, .sendEnd, .finishOrigin: break
        case .bind(let id): leases.streams.stream(id)?.channel.isBound = true
        case .unbind: leases.unbind()
        case .secureClient(let name, let hello): client.secure(showing: name, hello)
        case .release(let id, let reusable): leases.release(id, reusable: reusable, of: self)
        case .finishClient:
            client.finish()
            if client.queuedBytes == 0 { machine.clientDrained(now: worker.loop.now) }
        case .closeClient(let reset): client.closeGracefully(reset ? .reset : .close)
        case .authenticate(let id, let check):
            guard let verdict = worker.desks.verdict(on: check, of: id, for: self) else { return }
            machine.authenticated(verdict, id, now: worker.loop.now, &worker.out)
        case .intercept(let id, let call):
            guard let answer = worker.desks.start(call, of: id, for: self) else { return }
            machine.intercepted(answer, id, now: worker.loop.now, &worker.out)
        case .cancelIntercept(let id): worker.desks.cancelCode(of: id, for: self)
        case .awaitTurn(let id, let ticket):
            // it may be over by now
            if machine.awaitsTurn(id) { worker.desks.register(ticket, of: id, for: self) }
        case .awaitPerson(let id, let transaction):
            if machine.awaitsPerson(id) { worker.desks.register(transaction, of: id, for: self) }
        case .awaitFlight(let id, let ticket):
            if machine.awaitsFlight(ticket, id) { worker.desks.register(ticket, of: id, for: self) }
        case .wake(let time): wake(at: time)
        case .record(let id):
            machine.takeRecord(of: id, &worker.out) { worker.report.record($0) }
            worker.handFlowsOn(least: Worker.flowBatch)
        case .proceed: machine.proceed(now: worker.loop.now, &worker.out)
        }
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

    /// The sockets are read as far as the machine wants it.
    private func applyReading() {
        client.read(unlessClosing: machine.readsClient)
        // what is full, or no longer, holds all of them up
        let isFull = machine.isClientFull
        let all = settling.concernsAll || isFull != settling.wasClientFull
        settling.wasClientFull = isFull
        settling.concernsAll = false
        leases.read(all: all) { machine.readsOrigin(of: $0) }
    }

    // MARK: back-pressure

    func noteClientQueue(highWater: Int = ClientConnection.highWater) {
        machine.queuedForClient(client.queuedBytes, highWater: highWater, now: worker.loop.now, &worker.out)
    }

    func noteQueue(of origin: OriginChannel, _ id: ExchangeID, highWater: Int = ClientConnection.highWater) {
        machine.queuedForOrigin(origin.queuedBytes, of: id, highWater: highWater, now: worker.loop.now, &worker.out)
    }

    /// Nothing reaches the origin any more.
    func spend(_ origin: OriginChannel, of id: ExchangeID) {
        origin.isSpent = true
        machine.originLost(id, now: worker.loop.now, &worker.out)
    }

    // MARK: time

    var wakeAt: Int { machine.wakeAt }

    /// The machine is woken at that time, and not only by the next sweep.
    func wake(at time: Int) {
        guard !isClosed else { return }
        // without memory for a timer the next sweep sees to it
        if alarm == nil { alarm = try? Alarm(loop: worker.loop) { [unowned self] in rang() } }
        // the clock has whole milliseconds: rung too soon, it would have to be set once more
        _ = alarm?.set(milliseconds: time - worker.loop.now + 1)
    }

    private func rang() {
        if client.isClosing, !client.isGone { return client.closeWhereTaken() }
        if machine.wakeAt <= worker.loop.now { sweep(worker.loop.now) }
    }

    func sweep(_ now: Int) {
        if !client.isGone, client.isTaking() { machine.touched(.client, now: now) }
        leases.streams.forEachStream { id, stream in
            if stream.channel.isTaking() { machine.touched(.origin, id, now: now) }
        }
        if client.isClosing, !client.isGone, machine.deadline <= now { return client.giveUp() }
        machine.woke(now: now, &worker.out)
        settle()
    }

    // MARK: life

    /// Another generation of the configuration is in force.
    func adopt(_ settings: WorkerSettings) {
        leases.unbind()
        machine.adopt(settings.engine, settings.clients, now: worker.loop.now, &worker.out)
        settle()
    }

    /// Makes a call that no client waits for.
    func run(_ errand: Errand, _ report: @escaping (String?) -> Void) {
        machine.run(errand, now: worker.loop.now, &worker.out, report)
        settle()
    }

    /// Closes between two requests, as in a drain.
    func closeIfIdle() {
        if client.isClosing { return }
        if machine.isIdle {
            machine.sayGoodbye(&worker.out)
            flushClient()
            return client.closeGracefully(.close)
        }
        if machine.leave(now: worker.loop.now, &worker.out) { settle() }
    }

    /// No more requests are taken: lets go of calls whose answers are of use to nobody then.
    func giveUpUnawaited() {
        guard !isClosed, machine.hasOrphans else { return }
        machine.giveUpUnawaited(now: worker.loop.now, &worker.out)
        settle()
    }

    /// Closes in the middle of whatever is under way.
    func cut() { if client.isGone { end() } else { client.lost() } }

    /// The client has gone, and its channel is closed. Calls may be heard to their end.
    func clientWent() { if !machine.hasOrphans { end() } }

    private func end() {
        guard !isClosed else { return }
        isClosed = true
        leases.releaseAll(of: self)
        alarm?.cancel()
        worker.closed(self)
    }
}
