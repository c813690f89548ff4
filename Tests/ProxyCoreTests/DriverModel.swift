import Authorization
import HTTP1
import HTTPCodec
import Interception
import Journal
import Passwords
import ProxyCore
import Synchronization
import TLSEngine
import Testing

/// Carries out a connection's orders as the driver does, with arrays for sockets and a number for the clock.
final class DriverModel {
    enum ClientState: Equatable {
        case open
        /// Nothing more is sent; what comes is thrown away.
        case finished
        case closed
        case reset
    }

    var machine: ClientConnection
    var out = Outbox()
    private var isSettling = false
    /// How much of the outbox's body bytes has gone to the origin.
    private var bodyDone = 0
    private var clientEnded = false
    var isTunnel: Bool { machine.isTunnel }
    var isPaused: Bool { !clientEnded && !machine.readsClient }
    private(set) var now: Int
    let pool: PoolModel
    /// Connections of this client alone.
    let bound = PoolModel(trace: nil)
    let trace: Trace?
    private let side: Trace.Side
    /// How much of what was sent stands in the trace.
    private var traced = 0
    private(set) var client = ClientState.open
    /// All that was written to the client.
    private(set) var sent: [UInt8] = []
    private(set) var origin: OriginConnection?
    /// A connection that is being made, and for which exchange.
    private(set) var dialing: Origin?
    private var dialingFor: ExchangeID?
    private(set) var records: [ExchangeRecord] = []
    private(set) var flows: [(flow: PackedFlow, moments: [ExchangeMoment])] = []
    /// Whether each release gave the connection back to the pool.
    private(set) var releases: [Bool] = []
    private(set) var dials = 0
    /// Whether a tunnel's origin is there is found out by a connection; else it is known.
    var reachesAnew = false
    /// The client's handshake that is under way: whose certificate it is shown, and its first bytes.
    var securing: (name: ShownName, hello: [UInt8])?
    /// Passwords that wait to be checked.
    var checks: [PasswordCheck] = []
    var checkIDs: [ExchangeID] = []
    /// Code of others that works on messages; and how often nobody waited for it any longer.
    var calls: [(id: ExchangeID, call: SwiftCall)] = []
    private(set) var cancelled = 0
    /// Step-ups that wait for a person, and requests that were told to wait at a limit.
    var asked: [(id: ExchangeID, transaction: TransactionID)] = []
    var awaited: [(id: ExchangeID, ticket: LimitTicket)] = []
    var flying: [FlightTicket: ExchangeID] = [:]
    var splitter: Splitter
    /// The client reads nothing: what is written to it stays queued.
    var holdsOutput = false
    /// Bytes of the client that wait until it is read again.
    private var waiting: [UInt8] = []

    func tell(time: Int) { out.tell(time: time) }

    init(
        _ settings: Settings = Settings(), flows: (any FlowStore)? = nil, refusals: (any RefusalStore)? = nil,
        logins: (any LoginStore)? = nil, cookies: (any CookieSessionStore)? = nil,
        limits: (any LimitStore)? = nil, transactions: (any TransactionStore)? = nil,
        tokens: (any TokenStore)? = nil, sessions: SessionStores? = nil, devices: DeviceBook? = nil,
        decisions: (any DecisionStore)? = nil, pool: PoolModel = PoolModel(),
        delivery: Delivery = .whole, number: UInt64 = 1, source: ClientSource = ClientSource(address: nil),
        share: ConnectionShare? = nil, streams: (any StreamServer)? = nil, now: Int = 0
    ) {
        machine = ClientConnection(
            engine: Engine(settings),
            stores: SharedStores(
                flows: flows, refusals: refusals, logins: logins, cookies: cookies, limits: limits,
                state: devices, transactions: transactions, tokens: tokens, pushes: devices, sessions: sessions,
                decisions: decisions),
            client: "192.0.2.1:50000", source: source, share: share, streams: streams, now: now)
        self.pool = pool
        self.now = now
        trace = pool.trace
        side = .client(pool.trace?.nextClient() ?? 0)
        splitter = Splitter(delivery)
    }

    var deadline: Int { machine.wakeAt }
    var isIdle: Bool { machine.isIdle }
    var isOver: Bool { client == .closed || client == .reset }
    var isClosed: Bool { machine.isClosed }
    /// Nothing is under way any more, and nobody is there.
    var isGone: Bool { isOver && !machine.hasOrphans }
    /// Calls that nobody here waits for.
    var hasOrphans: Bool { machine.hasOrphans }

    func adopt(_ settings: Settings, clients: ClientPolicy = ClientPolicy()) { adopt(Engine(settings), clients) }

    func adopt(_ engine: Engine, _ clients: ClientPolicy = ClientPolicy()) {
        guard !isOver else { return }
        came("adopts settings")
        machine.adopt(engine, clients, now: now, &out)
        settle()
    }

    // MARK: the client

    /// Sends in the pieces that the delivery asks for. What comes while the client is not read is kept for later.
    func fromClient(_ bytes: [UInt8]) {
        for piece in splitter.pieces(bytes) { clientPiece(piece) }
    }

    func clientPiece(_ bytes: [UInt8]) {
        if isPaused {
            waiting += bytes
            return
        }
        guard !isOver else { return }
        trace?.came(bytes, from: side, at: now)
        let start = machine.relays(from: .client, of: bytes.count)
        if start > 0 {
            origin?.received += bytes[..<start]
            machine.relayedFromClient(start, now: now, &out)
        }
        if start < bytes.count { machine.received(Array(bytes[start...]).span, now: now, &out) }
        settle()
    }

    /// The client sends no more.
    func clientEnds() {
        guard !isOver, !clientEnded else { return }
        clientEnded = true
        came("ends")
        if securing != nil { return clientIsUnsecured(.closedInHandshake, hasSeen: false) }
        machine.clientEnded(now: now, &out)
        settle()
    }

    /// Writing to the client failed.
    func clientIsLost() {
        guard !isOver else { return }
        came("is lost")
        if securing != nil { return clientIsUnsecured(.closedInHandshake, hasSeen: false) }
        machine.clientLost(now: now, &out)
        settle()
        if !isOver { close(.reset) }
    }

    /// The process takes no more requests.
    func leaves() {
        out.isLeaving = true
        came("is told that the process leaves")
        machine.giveUpUnawaited(now: now, &out)
        settle()
    }

    // MARK: the origin

    func fromOrigin(_ bytes: [UInt8]) {
        for piece in splitter.pieces(bytes) { originPiece(piece) }
    }

    /// Bytes that nobody reads any more are lost, as on a socket.
    func originPiece(_ bytes: [UInt8]) {
        guard !isGone, let origin, let id = origin.id else { return }
        trace?.came(bytes, from: .origin(origin.number), at: now)
        let start = machine.relays(from: .origin, of: bytes.count)
        if start > 0 {
            sent += bytes[..<start]
            machine.relayedFromOrigin(start, through: &origin.leg, for: id, now: now, &out)
        }
        if start < bytes.count {
            machine.received(Array(bytes[start...]).span, through: &origin.leg, for: id, now: now, &out)
        }
        settle()
    }

    /// - Parameter cleanly: false for a reset.
    func originEnds(cleanly: Bool = true) {
        guard !isGone, let origin, !origin.ended else { return }
        origin.ended = true
        guard let id = origin.id else { return }
        trace?.came(cleanly ? "ends" : "breaks", from: .origin(origin.number), at: now)
        machine.originEnded(through: &origin.leg, for: id, cleanly: cleanly, now: now, &out)
        settle()
    }

    /// The connection that is being made stands.
    @discardableResult
    func connects() -> OriginConnection? {
        guard let wanted = dialing, let id = dialingFor else { return nil }
        dialing = nil
        let connection = OriginConnection(wanted, number: pool.trace?.nextOrigin() ?? 0)
        trace?.came("connects to \(wanted)", from: .origin(connection.number), at: now)
        attach(connection, id, reused: false)
        settle()
        return connection
    }

    func dialFails(_ failure: LeaseFailure) {
        guard dialing != nil, let id = dialingFor else { return }
        dialing = nil
        came("dial fails")
        machine.leaseFailed(failure, id, now: now, &out)
        settle()
    }

    private func attach(_ connection: OriginConnection, _ id: ExchangeID, reused: Bool) {
        origin = connection
        connection.id = id
        if reused { trace?.went("reused", to: .origin(connection.number), at: now) }
        machine.leased(id, reused: reused, now: now, &out)
    }

    /// The name has to be looked up; it has addresses; the origin accepted the connection, and its handshake begins.
    func dialResolves() { reached(.resolving, "dial resolves") }
    func dialConnects() { reached(.connecting, "dial connects") }
    func dialSecures() { reached(.securing, "dial secures") }

    private func reached(_ step: LeaseStep, _ words: String) {
        guard let dialingFor else { return }
        came(words)
        machine.leaseReached(step, dialingFor, now: now)
    }

    // MARK: time

    /// Lets time pass; the connection wakes at each of its deadlines on the way.
    func waits(_ milliseconds: Int) {
        let end = now + milliseconds
        while !isGone, machine.wakeAt <= end {
            now = max(now, machine.wakeAt)
            let before = machine.wakeAt
            wake()
            if !isGone, machine.wakeAt == before {
                Issue.record("the connection sleeps through its deadline \(before)")
                break
            }
        }
        now = end
    }

    func wake() {
        machine.woke(now: now, &out)
        settle()
    }

    /// The kernel took some of what was queued for one of the legs.
    func touched(_ leg: Leg = .client) { machine.touched(leg, now: now) }

    /// What the origin says is wanted.
    var readsOrigin: Bool { origin?.id.map { machine.readsOrigin(of: $0) } ?? false }

    /// Writing to the origin failed.
    func originIsLost() {
        guard let origin, let id = origin.id else { return }
        trace?.came("is lost", from: .origin(origin.number), at: now)
        machine.originLost(id, now: now, &out)
        settle()
    }

    /// For a clock shared by many.
    func setClock(_ time: Int) { now = time }

    // MARK: orders

    func settle() {
        guard !isSettling else { return }
        isSettling = true
        var done = 0
        while true {
            flush()
            guard done < out.orders.count else { break }
            let order = out.orders[done]
            done += 1
            perform(order)
        }
        traceBytes()
        out.clearOrders()
        out.clearOrigin()
        bodyDone = 0
        isSettling = false
        if isGone { release(false) }
        drainWaiting()
    }

    private func drainWaiting() {
        guard !isPaused, !waiting.isEmpty, !isOver else { return }
        let bytes = waiting
        waiting = []
        clientPiece(bytes)
    }

    private func flush() {
        machine.flush(&out)
        if !out.client.isEmpty {
            if !isOver { sent += out.client }
            out.clearClient()
        }
    }

    private func perform(_ order: Order) {
        switch order {
        case .lease(let id, let wanted, let scope, _):
            #expect(origin == nil && dialing == nil, "a lease while the leg is in use")
            if let connection = idle(wanted, scope) {
                attach(connection, id, reused: true)
            } else {
                dial(wanted, id)
            }
        case .reach(let id, let wanted):
            guard reachesAnew else { return machine.reached(id, now: now, &out) }
            dial(wanted, id)
        case .carry: Issue.record("a tunnel in a stream, and there are none here")
        case .send(_, let index):
            guard let origin else { return }
            origin.leg.send(out.heads[index].head, out.heads[index].forwarding, to: &origin.received)
        case .sendBody(_, let count):
            let bytes = Array(out.origin[bodyDone..<bodyDone + count])
            bodyDone += count
            guard let origin else { return }
            origin.leg.write(bytes.span, to: &origin.received)
        case .sendRaw(_, let count):
            origin?.received += out.origin[bodyDone..<bodyDone + count]
            bodyDone += count
        case .sendEnd(_, let trailers):
            guard let origin else { return }
            origin.leg.end(trailers: trailers, to: &origin.received)
        case .bind: origin?.isBound = true
        case .unbind: bound.idle = [:]
        case .secureClient(let name, let hello):
            securing = (name, hello)
            went("shown the name of \(shownName)")
        case .release(_, let reusable): release(reusable)
        case .finishClient:
            client = .finished
            went("finished")
            if !holdsOutput { machine.clientDrained(now: now) }
        case .finishOrigin:
            origin?.isFinished = true
            traceBytes()
            if let origin { trace?.went("finished", to: .origin(origin.number), at: now) }
        case .closeClient(let reset):
            went(reset ? "reset" : "closed")
            if holdsOutput, !reset { client = .finished } else { close(reset ? .reset : .closed) }
        case .authenticate(let id, let check):
            (checks, checkIDs) = (checks + [check], checkIDs + [id])
        case .awaitTurn(let id, let ticket): awaited.append((id, ticket))
        case .awaitPerson(let id, let transaction): asked.append((id, transaction))
        case .awaitFlight(let id, let ticket): flying[ticket] = id
        case .wake: break
        case .intercept(let id, let call): calls.append((id, call))
        case .cancelIntercept(let id):
            calls.removeAll { $0.id == id }
            cancelled += 1
        case .record(let id):
            machine.takeRecord(of: id, &out) {
                records.append(copy $0)
                trace?.recorded($0, of: side.number, at: now)
            }
            takeFlows()
        case .proceed: machine.proceed(now: now, &out)
        }
    }

    /// What the journal was told.
    func takeFlows() {
        out.takeFlows()?.forEach { flow, events in
            flows.append((flow, events.map(\.moment)))
            trace?.kept(flow, of: side.number, at: now)
        }
    }

    private func dial(_ wanted: Origin, _ id: ExchangeID) {
        (dialing, dialingFor) = (wanted, id)
        dials += 1
        trace?.went("\(wanted)", to: .dial(side.number), at: now)
    }

    private func idle(_ wanted: Origin, _ scope: LeaseScope) -> OriginConnection? {
        switch scope {
        case .any, .heard: bound.take(wanted) ?? pool.take(wanted)
        case .own: bound.take(wanted)
        case .new: nil
        }
    }

    private func release(_ reusable: Bool) {
        dialing = nil
        guard let connection = origin else { return }
        traceBytes()
        origin = nil
        if let id = connection.id { machine.released(id) }
        let isKept = reusable && connection.leg.isReusable && !connection.ended
        trace?.went(isKept ? "kept" : "closed", to: .origin(connection.number), at: now)
        if isKept {
            connection.uses += 1
            (connection.isBound ? bound : pool).put(connection)
            releases.append(true)
        } else {
            connection.isClosed = true
            releases.append(false)
        }
    }

    private func close(_ state: ClientState) {
        guard !isOver else { return }
        client = state
        securing = nil
        if !machine.hasOrphans { release(false) }
    }

    // MARK: the trace

    func came(_ words: String) { trace?.came(words, from: side, at: now) }

    private func went(_ words: String) {
        traceBytes()
        trace?.went(words, to: side, at: now)
    }

    /// Notes what was written since the last time.
    private func traceBytes() {
        guard let trace else { return }
        trace.went(sent[traced...], to: side, at: now)
        traced = sent.count
        guard let origin else { return }
        trace.went(origin.received[origin.traced...], to: .origin(origin.number), at: now)
        origin.traced = origin.received.count
    }
}
