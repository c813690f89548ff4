internal import Addresses
internal import EventLoop
internal import Glibc
import Journal
import Metrics
internal import ProxyCore

/// One loop with its listeners, connections and pool, on its own thread.
final class Worker {
    let loop: Loop
    var out: CommandBuffer
    /// The codecs' output for an origin until it is sent.
    var wire: [UInt8] = []
    let origins: Origins
    let security: WorkerTLS
    let metrics: LoopMetrics
    let report: LoopReport
    let desks: LoopDesks
    var protocols = Protocols()
    private(set) var settings: WorkerSettings
    private let admission: Admission
    private let connections = ConnectionTable()
    private let backgroundCalls: BackgroundCalls
    private var drain = Drain()
    private var sources: [EventSource] = []

    /// The interval of deadline checks in milliseconds. Timeouts may be late by this much.
    static let sweepInterval = 100

    init(_ start: WorkerStart, recorder: any Recorder) throws(SystemError) {
        loop = try Loop(pulse: start.pulse)
        out = CommandBuffer(loop: start.number)
        settings = start.settings
        metrics = start.metrics
        let report = LoopReport(recorder, start.metrics, start.gauge, now: loop.now)
        self.report = report
        desks = try LoopDesks(loop: loop, start.tables, report)
        backgroundCalls = BackgroundCalls(start.tables, start.messages)
        admission = Admission(loop: loop, start.tables.clients, start.metrics, report)
        security = WorkerTLS(start.settings.tls, on: loop, start.metrics)
        origins = try Origins(loop: loop, start.settings, at: start.addresses) { report.warn($0) }
        report.adopt(start.settings)
        out.tell(time: time(nil))
        sources.append(try MailboxPort(loop: loop, start.messages) { [unowned self] in receive($0) })
        sources.append(
            try Timer(loop: loop, everyMilliseconds: Self.sweepInterval) { [unowned self] in sweep() })
        try admission.listen(on: start.listeners, for: self)
    }

    func run() {
        backgroundCalls.enter()
        loop.pulse.turn(at: loop.refreshNow())
        loop.run()
        loop.pulse.end()
        report.flush()
        handFlowsOn(least: 1)
        // each connection refers to the worker, and these parts to connections, so the cycles are broken here
        connections.letGo()
        backgroundCalls.letGo()
        desks.letGo()
        loop.releaseClosed()
    }

    // MARK: messages

    private func receive(_ message: WorkerMessage) {
        switch message {
        case .adopt(let settings):
            self.settings = settings
            report.adopt(settings)
            loop.refreshNow()
            security.adopt(settings.tls)
            origins.adopt(settings)
            connections.forEach { $0.adopt(settings) }
        case .drain(let patience):
            out.isLeaving = true
            drain.begin(at: loop.now, sparingIdleFor: patience, atMost: settings.drainLimit)
            admission.end()
            if closesIdle { connections.forEach { $0.closeIfIdle() } }
            stopWhenEmpty()
        case .runBackgroundCalls: backgroundCalls.take(self)
        case .flush(let done):
            handFlowsOn(least: 1)
            done()
        case .open(let listeners, _) where drain.isUnderWay: for one in listeners { Glibc.close(one.descriptor) }
        case .open(let listeners, let testSession):
            do throws(SystemError) {
                try admission.listen(on: listeners, for: self, testSession: testSession)
            } catch {
                report.warn("the port of the test session \(testSession) cannot be served: \(error.reason)")
            }
        case .close(let testSession):
            admission.close(testSession: testSession)
            // looking for it lets go of its state
            _ = desks.stores.testSessions?.session(testSession)
            connections.forEach { connection in
                guard connection.machine.http.testSession == testSession else { return }
                if connection.machine.http.exchanges.hasTunnel { connection.cut() } else { connection.closeIfIdle() }
            }
        case .refuseOrigin(let address): origins.own.add(address)
        case .stop:
            admission.close()
            loop.stop()
        }
    }

    private func stopWhenEmpty() {
        guard drain.isUnderWay, connections.count == 0 else { return }
        backgroundCalls.leave(by: drain.limit, self)
        if connections.count == 0, backgroundCalls.isEmpty { loop.stop() }
    }

    /// True if connections without a request are to be closed.
    var closesIdle: Bool { drain.isUnderWay && drain.closesIdle(at: loop.now) }

    func sweepBackgroundCalls() {
        loop.refreshNow()
        backgroundCalls.sweep(self)
        stopWhenEmpty()
    }

    // MARK: connections

    func accept(
        _ descriptor: consuming Descriptor, from peer: SocketAddress, isSecure: Bool, testSession: String?
    ) {
        guard let address = IPAddress(bytes: peer.address) else { return }
        let isBalancer = settings.clients.isBalancer(address)
        let share: ConnectionShare
        do throws(ClientShares.Refusal) {
            guard
                let place = try admission.share(
                    for: address, isBalancer: isBalancer, settings.clients, settings.engine.settings.limits)
            else { return }
            share = place
        } catch {
            // a refusal allocates nothing: the kernel's buffer holds these few bytes. A TLS client could not read them
            return isSecure ? () : descriptor.sendLast(error.response)
        }
        guard let channel = try? ClientChannel(loop: loop, bufferPool: security.bufferPool, descriptor: descriptor)
        else { return }
        let wantsLocal = settings.engine.settings.disclosure.forwarded == .forwarded
        let machine = ClientConnection(
            engine: settings.engine, stores: desks.stores,
            client: peer.description,
            source: ClientSource(
                address: address, local: wantsLocal ? localAddress(of: channel) : nil, isSecure: isSecure,
                testSession: testSession, balancer: isBalancer ? settings.clients : nil),
            share: share, streams: protocols.server(), now: loop.refreshNow())
        metrics.count(.accepted)
        add(Connection(worker: self, client: channel, machine: machine, isClients: true))
    }

    /// A connection without a client, for a background call.
    func connectToNobody() -> Connection {
        connect(
            MemoryEnd.pair().near,
            ClientConnection(engine: settings.engine, stores: desks.stores, client: "usher", now: loop.refreshNow()))
    }

    /// A connection inside a stream of another one.
    /// - Returns: the other end.
    func connect(_ machine: consuming ClientConnection) -> OriginChannel {
        let (near, far) = MemoryEnd.pair()
        _ = connect(near, machine)
        return OriginChannel(loop: loop, security: security, end: far)
    }

    private func connect(_ end: MemoryEnd, _ machine: consuming ClientConnection) -> Connection {
        let client = ClientChannel(loop: loop, bufferPool: security.bufferPool, end: end)
        let connection = Connection(worker: self, client: client, machine: machine)
        add(connection)
        return connection
    }

    private func add(_ connection: Connection) {
        connections.add(connection)
        report.accepted()
    }

    private func localAddress(of channel: ClientChannel) -> IPAddress? {
        channel.localAddress.flatMap { IPAddress(bytes: $0.address) }
    }

    /// Pauses the listener until the next sweep. Idle origin connections are closed first to free descriptors.
    func acceptFailed(_ error: SystemError) {
        metrics.count(.acceptFailed)
        origins.pool.closeAll()
        connections.forEach { $0.leases.unbind() }
        admission.warn(of: error)
    }

    func closed(_ connection: Connection) {
        guard connections.holds(connection) else { return }
        loop.deferRelease(connection)
        _ = countStreams(of: connection)
        desks.cancelCode(allOf: connection)
        connections.remove(connection)
        if connection.isClients { metrics.count(.closed) }
        stopWhenEmpty()
    }

    private func sweep() {
        let now = loop.refreshNow()
        loop.pulse.turn(at: now)
        report.sweepBegins(at: now)
        metrics.set(.idleOriginConnections, origins.idle)
        out.tell(time: time(nil))
        let (underWay, streams) = sweepConnections(now)
        backgroundCalls.sweep(self)
        stopWhenEmpty()
        security.sweep()
        loop.trimPipes()
        origins.sweep(now, settings.engine.settings.timeouts, metrics)
        metrics.set(.clientStreams, streams)
        admission.resume()
        report.tell(connections: connections.count, underWay: underWay)
        for word in settings.engine.words(now: now) { report.warn(word) }
        report.flush()
        handFlowsOn(least: 1)
    }

    /// - Returns: the running exchanges, and how many of them are in client streams.
    private func sweepConnections(_ now: Int) -> (underWay: Int, streams: Int) {
        var underWay = 0
        var streams = 0
        connections.takeTurns { connection in
            underWay += connection.machine.http.exchanges.count
            streams += countStreams(of: connection)
            connection.client.look()
            if connection.wakeAt <= now { connection.sweep(now) }
            if drain.isUnderWay { connection.giveUpUnawaited() }
            if drain.cutsOff(at: now), !backgroundCalls.owns(connection) {
                connection.cut()
            } else if closesIdle {
                connection.closeIfIdle()
            }
        }
        return (underWay, streams)
    }

    /// The size at which flows are passed to the journal at once, in bytes.
    static let flowBatch = 128 << 10

    /// - Parameter least: the minimum size in bytes.
    func handFlowsOn(least: Int) {
        if let flows = out.takeFlows(least) { settings.journal?.take(flows) }
    }

    // MARK: origins

    /// Whether an existing connection may serve the origin. A connection to a shared upstream proxy was not checked for this origin.
    func mayReuse(_ origin: Origin) -> Bool {
        origin.route == nil || settings.destinations.refusal(of: origin) == nil
    }
}
