import EventLoop
internal import HTTPCodec
import ProxyCore

/// One client connection on its loop. The machine decides, and this class executes its orders. The worker's table holds the only
/// lasting reference.
final class Connection {
    /// The worker outlives its connections. The reference is strong because a strong `let` costs no reference counting in use.
    let worker: Worker
    let client: ClientChannel
    let leases: OriginLeases
    var machine: ClientConnection
    private var writer = RequestWriter()
    private var settling = Settling()
    private(set) var isClosed = false
    /// Created with the first timer.
    private var alarm: Alarm?
    /// The index in the worker's table.
    var index = 0
    /// True once it is counted as a connection with concurrent exchanges.
    var isCounted = false
    /// True for a real client, false for calls by Usher.
    let isClients: Bool

    /// The limit of reads of one side in one turn.
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

    /// Sends the machine's output and executes its orders until none are left.
    /// The event may concern all exchanges.
    func settle() {
        settling.concernsAll = true
        carryOut()
    }

    /// - Parameter id: the only exchange that the event concerns.
    func settle(of id: ExchangeID) {
        leases.note(id)
        carryOut()
    }

    /// Settles after client input. With many streams, the event does not change what other exchanges may read.
    func settleClient() { if machine.http.carriesMany { carryOut() } else { settle() } }

    /// Executes orders. The exchanges concerned are noted before.
    private func carryOut() {
        // a command may complete at once and call back here; the outer round continues with its orders
        guard !settling.isUnderWay else { return }
        settling.isUnderWay = true
        let worker = worker
        var done = 0
        while true {
            guard done < worker.out.commands.count else {
                // back-pressure of the client or origin may lead to more orders
                flushClient()
                // another connection may have executed and cleared its own orders meanwhile
                guard done >= worker.out.commands.count else { continue }
                guard writer.isWriting else { break }
                writer.flush(of: self)
                continue
            }
            let command = worker.out.removeCommand(done)
            done += 1
            if !worker.out.client.isEmpty || command.mayConcernClient { flushClient() }
            if !writer.write(command, of: self) {
                writer.flush(of: self)
                perform(command)
            }
        }
        worker.out.clearCommands()
        worker.out.clearOrigin()
        writer.end()
        settling.isUnderWay = false
        guard !isClosed else { return }
        if client.isGone, !machine.http.hasOrphans { return end() }
        applyReading()
        if worker.closesIdle { closeIfIdle() }
    }

    private func perform(_ command: DriverCommand) {
        switch command {
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
            machine.happened(.authenticated(verdict), to: id, now: worker.loop.now, &worker.out)
        case .intercept(let id, let call):
            guard let answer = worker.desks.start(call, of: id, for: self) else { return }
            machine.happened(.intercepted(answer), to: id, now: worker.loop.now, &worker.out)
        case .cancelIntercept(let id): worker.desks.cancelCode(of: id, for: self)
        case .awaitTicket(let id, let ticket):
            // the wait may have ended already
            if machine.http.awaits(ticket, id) { worker.desks.waiting.register(ticket, of: id, for: self) }
        case .wake(let time): wake(at: time)
        case .record(let id):
            machine.http.takeRecord(of: id, &worker.out) { worker.report.record($0) }
            worker.handFlowsOn(least: Worker.flowBatch)
        case .proceed: machine.proceed(now: worker.loop.now, &worker.out)
        }
    }

    private func flushClient() {
        machine.http.flush(&worker.out)
        guard !worker.out.client.isEmpty else { return }
        let carriesMany = machine.http.carriesMany
        let sent = worker.out.client.withUnsafeBytes { carriesMany ? client.gather($0) : client.send($0) }
        worker.out.clearClient()
        if !sent, !isClosed {
            machine.clientLost(now: worker.loop.now, &worker.out)
        } else {
            noteClientQueue()
        }
    }

    /// Starts or stops reading of the sockets as the machine wants.
    private func applyReading() {
        client.read(unlessClosing: machine.readsClient)
        // a full client queue pauses all origins
        let isFull = machine.http.isClientFull
        let all = settling.concernsAll || isFull != settling.wasClientFull
        settling.wasClientFull = isFull
        settling.concernsAll = false
        leases.read(all: all) { machine.http.readsOrigin(of: $0) }
    }

    // MARK: back-pressure

    func noteClientQueue(highWater: Int = ClientConnection.highWater) {
        machine.queuedForClient(client.queuedBytes, highWater: highWater, now: worker.loop.now, &worker.out)
    }

    func noteQueue(of origin: OriginChannel, _ id: ExchangeID, highWater: Int = ClientConnection.highWater) {
        machine.queuedForOrigin(origin.queuedBytes, of: id, highWater: highWater, now: worker.loop.now, &worker.out)
    }

    /// Marks an origin connection that cannot be written to.
    func spend(_ origin: OriginChannel, of id: ExchangeID) {
        origin.isSpent = true
        machine.originLost(id, now: worker.loop.now, &worker.out)
    }

    // MARK: time

    var wakeAt: Int { machine.wakeAt }

    /// Sets a timer for the machine; the sweep alone would be less precise.
    func wake(at time: Int) {
        guard !isClosed else { return }
        // if no timer can be created, the next sweep wakes it
        if alarm == nil { alarm = try? Alarm(loop: worker.loop) { [unowned self] in rang() } }
        // the clock has whole milliseconds, so one more avoids a wake-up that is too early
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

    // MARK: configuration and end

    /// Applies a new configuration.
    func adopt(_ settings: WorkerSettings) {
        leases.unbind()
        machine.adopt(settings.engine, settings.clients, now: worker.loop.now, &worker.out)
        settle()
    }

    /// Makes a background call without a client.
    func run(_ backgroundCall: BackgroundCall, _ report: @escaping (String?) -> Void) {
        machine.http.run(backgroundCall, now: worker.loop.now, &worker.out, report)
        settle()
    }

    /// Closes between two requests, as in a drain.
    func closeIfIdle() {
        if client.isClosing { return }
        if machine.isIdle {
            machine.http.sayGoodbye(&worker.out)
            flushClient()
            return client.closeGracefully(.close)
        }
        if machine.leave(now: worker.loop.now, &worker.out) { settle() }
    }

    /// During a drain, drops background calls whose results are not needed any more.
    func giveUpUnawaited() {
        guard !isClosed, machine.http.hasOrphans else { return }
        machine.http.giveUpUnawaited(now: worker.loop.now, &worker.out)
        settle()
    }

    /// Closes at once, whatever is in progress.
    func cut() { if client.isGone { end() } else { client.lost() } }

    /// Handles the closed client channel. Background calls may continue.
    func clientWent() { if !machine.http.hasOrphans { end() } }

    private func end() {
        guard !isClosed else { return }
        isClosed = true
        leases.releaseAll(of: self)
        alarm?.cancel()
        worker.closed(self)
    }
}
