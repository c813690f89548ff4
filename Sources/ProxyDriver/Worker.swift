internal import Addresses
internal import EventLoop
internal import Glibc
internal import HTTPCodec
import Interception
import Journal
import Metrics
internal import Passwords
internal import ProxyCore

/// One loop with its listeners, connections and pool, on a thread of its own.
final class Worker {
    let loop: Loop
    let number: Int
    // Machines and legs write here and call nobody; to have that looked at each time costs a tenth of what a request does.

    @exclusivity(unchecked) var out: Outbox
    /// What legs write for an origin, until it is sent.
    @exclusivity(unchecked) var wire: [UInt8] = []
    let pool: OriginPool
    let security: WorkerTLS
    let recorder: any Recorder
    let metrics: LoopMetrics
    var protocols = Protocols()
    private(set) var settings: WorkerSettings
    let limits: LimitDesk
    let transactions: TransactionDesk
    let flights: FlightBell
    private let sessions: SessionTable
    private let tokens: TokenTable
    /// Those of all loops.
    private let shared: ErrandTable
    private let messages: Mailbox<WorkerMessage>
    private let errands = Errands()
    /// It serves nobody any more, and the others know.
    private var hasLeft = false
    private let stores: SharedStores
    private let clients: ClientTable
    let names: NameResolver
    private let authenticator: Authenticator
    /// Made with the first password.
    private var passwords: PasswordVerifier?
    /// Made with the first call of code that works off the loop.
    private var code: CodeRunner?
    private let own: OwnAddresses
    private var listeners: [ProxyListener] = []
    private var connections: [Connection?] = []
    private var free: [Int] = []
    private(set) var openConnections = 0
    private var isDraining = false
    /// When a drain cuts off what is still open.
    private var drainLimit = Int.max
    /// From when on it closes connections that have no request.
    private var idleLimit = 0
    /// When the next failure to accept is worth a word.
    private var nextAcceptWarning = 0
    private var nextShareWarning = 0
    /// What is said of its load, and what is counted for that.
    private let gauge: LoadGauge
    /// When the next look round is due.
    private var nextSweep = 0
    private var load = LoadGauge.Reading()
    private var sources: [EventSource] = []

    /// How often deadlines are looked at, in milliseconds. Every timeout is late by at most this.
    private static let sweepInterval = 100
    /// Between two words about failures to accept, in milliseconds.
    private static let warningInterval = 10_000

    init(_ start: WorkerStart, recorder: any Recorder) throws(SystemError) {
        loop = try Loop(pulse: start.pulse)
        number = start.number
        out = Outbox(loop: start.number)
        gauge = start.gauge
        settings = start.settings
        let tables = start.tables
        limits = try LimitDesk(loop: loop, tables.limits)
        transactions = try TransactionDesk(loop: loop, tables.transactions)
        flights = FlightBell(loop: loop)
        sessions = tables.sessions
        tokens = tables.tokens
        shared = tables.errands
        messages = start.messages
        stores = SharedStores(
            flows: tables.flows, refusals: tables.refusals, logins: LoginDesk(tables.logins, flights),
            cookies: SharedLoginDesk(tables.cookies, flights), limits: limits, state: tables.state,
            transactions: transactions,
            tokens: TokenDesk(tables.tokens, flights),
            pushes: tables.pushes, sessions: tables.sessions.stores(flights, tables.errands),
            errands: tables.errands, decisions: DecisionDesk(tables.decisions, flights))
        clients = tables.clients
        metrics = start.metrics
        security = WorkerTLS(start.settings.tls, on: loop, start.metrics)
        names = try NameResolver(loop: loop, start.settings.names) { recorder.warn($0) }
        authenticator = tables.authenticator
        own = OwnAddresses(
            start.addresses.compactMap { address in
                IPAddress(bytes: address.address).map { ($0, address.port) }
            })
        self.recorder = recorder
        pool = OriginPool(
            perOrigin: start.settings.engine.settings.limits.idlePerOrigin, total: start.settings.idleTotal)
        recorder.adopt(start.settings)
        nextSweep = loop.now + Self.sweepInterval
        out.tell(time: time(nil))
        sources.append(try MailboxPort(loop: loop, start.messages) { [unowned self] in receive($0) })
        sources.append(
            try Timer(loop: loop, everyMilliseconds: Self.sweepInterval) { [unowned self] in sweep() })
        for one in start.listeners {
            let socket = try ListeningSocket(adopting: one.descriptor)
            listeners.append(try ProxyListener(worker: self, socket: socket, isSecure: one.isSecure))
        }
    }

    func run() {
        shared.enter(messages)
        loop.pulse.turn(at: loop.refreshNow())
        loop.run()
        loop.pulse.end()
        recorder.flush()
        handFlowsOn(least: 1)
        // each connection has hold of this one, and these have hold of some
        connections = []
        errands.letGo()
        code = nil
        passwords = nil
        loop.releaseClosed()
    }

    // MARK: messages

    private func receive(_ message: WorkerMessage) {
        switch message {
        case .adopt(let settings):
            self.settings = settings
            recorder.adopt(settings)
            pool.perOrigin = settings.engine.settings.limits.idlePerOrigin
            loop.refreshNow()
            security.adopt(settings.tls)
            names.adopt(settings.names)
            pool.forgetAll()
            for connection in connections { connection?.adopt(settings) }
        case .drain(let patience):
            isDraining = true
            out.isLeaving = true
            drainLimit = loop.now + settings.drainLimit
            idleLimit = loop.now + patience
            for listener in listeners { listener.close() }
            listeners = []
            if closesIdle { for connection in connections { connection?.closeIfIdle() } }
            stopWhenEmpty()
        case .runErrands: errands.add(shared.take(), self)
        case .stop:
            for listener in listeners { listener.close() }
            loop.stop()
        }
    }

    private func stopWhenEmpty() {
        guard isDraining, openConnections == 0 else { return }
        if !hasLeft {
            hasLeft = true
            leave()
        }
        if openConnections == 0, errands.isEmpty { loop.stop() }
    }

    /// The last loop has AM told of whatever nobody has use for from here on.
    private func leave() {
        guard shared.leave(messages) else { return }
        sessions.keep(loginsOf: [])
        errands.finish(
            shared.take() + tokens.takeRevocations(by: settings.engine.settings.tokens), by: drainLimit, self)
    }

    /// Connections without a request are closed.
    var closesIdle: Bool { isDraining && loop.now >= idleLimit }

    func sweepErrands() {
        loop.refreshNow()
        errands.sweep(self)
        stopWhenEmpty()
    }

    // MARK: connections

    func accept(_ descriptor: consuming Descriptor, from peer: SocketAddress, isSecure: Bool) {
        guard let address = IPAddress(bytes: peer.address) else { return }
        let isBalancer = settings.clients.isBalancer(address)
        guard isBalancer || settings.clients.admits(address) else { return metrics.count(.refusedAddress) }
        let share: ConnectionShare
        do throws(ClientShares.Refusal) {
            // behind a balancer the client is whom its header names
            share = try ConnectionShare(
                clients, for: isBalancer ? nil : .network(address.clientNetwork), settings.engine.settings.limits)
        } catch {
            metrics.count(error == .all ? .refusedAll : .refusedShare)
            warn(of: error, address)
            // no memory is spent on one too many: the kernel's buffer takes these few bytes. Who speaks TLS would not
            // understand them
            return isSecure ? () : descriptor.sendLast(ClientConnection.answer(to: error))
        }
        guard let channel = try? ClientChannel(loop: loop, bufferPool: security.bufferPool, descriptor: descriptor)
        else { return }
        let wantsLocal = settings.engine.settings.disclosure.forwarded == .forwarded
        let machine = ClientConnection(
            engine: settings.engine, stores: stores,
            client: peer.description,
            source: ClientSource(
                address: address, local: wantsLocal ? localAddress(of: channel) : nil, isSecure: isSecure,
                balancer: isBalancer ? settings.clients : nil),
            share: share, streams: protocols.server(), now: loop.refreshNow())
        metrics.count(.accepted)
        add(Connection(worker: self, client: channel, machine: machine, isClients: true))
    }

    /// A connection at whose other end nobody is, for a call of Usher's own.
    func connectToNobody() -> Connection {
        connect(
            MemoryEnd.pair().near,
            ClientConnection(engine: settings.engine, stores: stores, client: "usher", now: loop.refreshNow()))
    }

    /// A connection that a stream of another one carries.
    /// - Returns: the other one's end of it.
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
        if let index = free.popLast() {
            connection.index = index
            connections[index] = connection
        } else {
            connection.index = connections.count
            connections.append(connection)
        }
        openConnections += 1
        load.accepted += 1
    }

    func record(_ record: borrowing ExchangeRecord) {
        load.served += 1
        recorder.record(record)
    }

    private func warn(of refusal: ClientShares.Refusal, _ client: IPAddress) {
        let now = loop.refreshNow()
        guard now >= nextShareWarning else { return }
        nextShareWarning = now + Self.warningInterval
        switch refusal {
        case .all: recorder.warn("clients are refused: there are as many connections as limits.connections allows")
        case .client:
            recorder.warn("\(client) is refused: it holds as many connections as limits.per_client allows")
        }
    }

    private func localAddress(of channel: ClientChannel) -> IPAddress? {
        channel.localAddress.flatMap { IPAddress(bytes: $0.address) }
    }

    /// The listener pauses until the next sweep. Idle connections to origins are given up first: they hold descriptors.
    func acceptFailed(_ error: SystemError) {
        metrics.count(.acceptFailed)
        pool.closeAll()
        for connection in connections { connection?.unbind() }
        let now = loop.refreshNow()
        guard now >= nextAcceptWarning else { return }
        nextAcceptWarning = now + Self.warningInterval
        recorder.warn("a connection could not be accepted: \(error.reason)")
    }

    func closed(_ connection: Connection) {
        guard connections[connection.index] === connection else { return }
        loop.deferRelease(connection)
        _ = countStreams(of: connection)
        code?.cancel(allOf: connection)
        connections[connection.index] = nil
        if connection.isClients { metrics.count(.closed) }
        free.append(connection.index)
        openConnections -= 1
        stopWhenEmpty()
    }

    private func sweep() {
        let now = loop.refreshNow()
        loop.pulse.turn(at: now)
        metrics.wasLate(by: now - nextSweep)
        nextSweep = now + Self.sweepInterval
        metrics.set(.idleOriginConnections, pool.count + pool.bound)
        out.tell(time: time(nil))
        load.underWay = 0
        var streams = 0
        for index in connections.indices {
            guard let connection = connections[index] else { continue }
            load.underWay += connection.machine.exchangesUnderWay
            streams += countStreams(of: connection)
            connection.lookForClient()
            if connection.wakeAt <= now { connection.sweep(now) }
            if isDraining { connection.giveUpUnawaited() }
            if now >= drainLimit, !errands.owns(connection) {
                connection.cut()
            } else if closesIdle {
                connection.closeIfIdle()
            }
        }
        errands.sweep(self)
        stopWhenEmpty()
        security.sweep()
        loop.trimPipes()
        pool.expire(before: now - settings.engine.settings.timeouts.poolIdle)
        pool.look(settings.engine.settings.timeouts, metrics)
        metrics.set(.clientStreams, streams)
        for listener in listeners { listener.resume() }
        load.connections = openConnections
        gauge.set(load)
        for word in settings.engine.words(now: now) { recorder.warn(word) }
        recorder.flush()
        handFlowsOn(least: 1)
    }

    /// From so many bytes on the journal is told at once.
    static let flowBatch = 128 << 10

    /// - Parameter least: bytes from which on it is worth it.
    func handFlowsOn(least: Int) {
        if let flows = out.takeFlows(least) { settings.journal?.take(flows) }
    }

    func clearWire() { wire.removeAll(keepingCapacity: wire.capacity <= Self.keptWire) }

    private static let keptWire = 256 << 10

    // MARK: passwords

    /// The verdict where it is known at once; else the connection is told later.
    func verdict(on check: PasswordCheck, of id: ExchangeID, for connection: Connection) -> PasswordVerdict? {
        if passwords == nil { passwords = try? PasswordVerifier(loop: loop, authenticator: authenticator) }
        return passwords.map { $0.verdict(on: check, of: id, for: connection) } ?? .busy
    }

    // MARK: code of others

    /// What it came to where that is clear at once; else the connection is told later.
    func start(_ call: SwiftCall, of id: ExchangeID, for connection: Connection) -> SwiftAnswer? {
        if code == nil { code = try? CodeRunner(loop: loop, recorder: recorder) }
        guard let code else { return .failed("could not be started") }
        return code.start(call, of: id, for: connection)
    }

    func cancelCode(of id: ExchangeID, for connection: Connection) { code?.cancel(id, of: connection) }

    // MARK: origins

    /// Whether a connection that stands may serve that origin: one that serves every origin was not made for this one.
    func mayReuse(_ origin: Origin) -> Bool {
        origin.route == nil || settings.destinations.refusal(of: origin) == nil
    }

    /// Whether a connection that stands has come back to this very proxy.
    func isOwn(_ channel: OriginChannel, _ address: IPAddress, port: UInt16) -> Bool {
        own.contains(address, port: port, from: channel.localAddress.flatMap { IPAddress(bytes: $0.address) })
    }

    /// Whether a connection to that address would come back to this very proxy.
    func isOwn(_ address: IPAddress, port: UInt16) -> Bool { own.contains(address, port: port) }
}

final class ProxyListener: Listener {
    private unowned(unsafe) let worker: Worker

    private let isSecure: Bool

    init(worker: Worker, socket: consuming ListeningSocket, isSecure: Bool) throws(SystemError) {
        self.worker = worker
        self.isSecure = isSecure
        try super.init(loop: worker.loop, listening: socket.take())
    }

    override func accepted(_ descriptor: consuming Descriptor, from peer: SocketAddress) {
        worker.accept(descriptor, from: peer, isSecure: isSecure)
    }

    override func acceptFailed(_ error: SystemError) { worker.acceptFailed(error) }
}
