import EventLoop
import ProxyCore

/// One client connection on its loop. The machine decides, and this class executes its commands. The worker's table holds the only
/// lasting reference.
final class Connection {
    /// The worker outlives its connections. The reference is strong because a strong `let` costs no reference counting in use.
    let worker: Worker
    let client: ClientChannel
    let leases: OriginLeases
    var machine: ClientConnection
    var interpreter = CommandInterpreter()
    /// An event may concern all exchanges, so that reading has to be updated for all.
    private var concernsAll = false
    /// The client's queue was full at the last check.
    private var wasClientFull = false
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

    // MARK: commands

    /// Sends the machine's output and executes its commands until none are left.
    /// The event may concern all exchanges.
    func settle() {
        concernsAll = true
        carryOut()
    }

    /// - Parameter id: the only exchange that the event concerns.
    func settle(of id: ExchangeID) {
        leases.note(id)
        carryOut()
    }

    /// Settles after client input. With many streams, the event does not change what other exchanges may read.
    func settleClient() { if machine.http.carriesMany { carryOut() } else { settle() } }

    /// Executes commands. The exchanges concerned are noted before.
    private func carryOut() {
        guard !interpreter.isUnderWay else { return }
        execute()
        guard !isClosed else { return }
        if client.isGone, !machine.http.exchanges.hasOrphans { return end() }
        applyReading()
        if worker.closesIdle { closeIfIdle() }
    }

    /// Starts or stops reading of the sockets as the machine wants.
    private func applyReading() {
        client.read(unlessClosing: machine.readsClient)
        // a full client queue pauses all origins
        let isFull = machine.http.isClientFull
        let all = concernsAll || isFull != wasClientFull
        wasClientFull = isFull
        concernsAll = false
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
        guard !isClosed, machine.http.exchanges.hasOrphans else { return }
        machine.http.giveUpUnawaited(now: worker.loop.now, &worker.out)
        settle()
    }

    /// Closes at once, whatever is in progress.
    func cut() { if client.isGone { end() } else { client.lost() } }

    /// Handles the closed client channel. Background calls may continue.
    func clientWent() { if !machine.http.exchanges.hasOrphans { end() } }

    private func end() {
        guard !isClosed else { return }
        isClosed = true
        leases.releaseAll(of: self)
        alarm?.cancel()
        worker.closed(self)
    }
}
