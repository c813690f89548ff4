import HTTP1
import HTTPCodec
import Interception
import Journal
import Passwords
import Testing

@testable import ProxyCore

/// Has a connection's commands executed as the driver does, with arrays for sockets and a number for the clock.
final class DriverModel: CommandBackend {
    enum ClientState: Equatable {
        case open
        /// Nothing more is sent; what comes is thrown away.
        case finished
        case closed
        case reset
    }

    /// What an exchange has of an origin.
    enum Lease {
        /// A connection is being made.
        case dialing(Origin, LeaseVersion)
        case stream(LinkStream)
    }

    var machine: ClientConnection
    var out = CommandBuffer()
    var interpreter = CommandInterpreter()
    var wire: [UInt8] = []
    let pool: LinkPool
    /// Connections of this client alone.
    private(set) var bound: [OriginLink] = []
    var leases: [(id: ExchangeID, lease: Lease)] = []
    let side: Trace.Side
    private(set) var client = ClientState.open
    var clientEnded = false
    /// All that was written to the client, and how much of it that has taken.
    private(set) var sent: [UInt8] = []
    private var taken = 0
    /// So many bytes more are said to wait for the client.
    var claimed = 0
    private(set) var records: [ExchangeRecord] = []
    private(set) var flows: [(flow: PackedFlow, events: [LogEvent])] = []
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
    /// Exchanges that wait for others, at a limit, or for a person.
    var awaited: [(id: ExchangeID, ticket: WaitingTicket)] = []
    var splitter: Splitter
    /// The client reads nothing: its connection stays until that is over.
    var holdsOutput = false
    /// Bytes of the client that wait until it is read again.
    var waiting: [UInt8] = []

    init(
        _ settings: Settings, _ stores: SharedStores, _ pool: LinkPool, delivery: Delivery = .whole, number: Int = 1,
        source: ClientSource = ClientSource(address: nil), share: ConnectionShare? = nil,
        streams: (any StreamServer)? = nil
    ) {
        machine = ClientConnection(
            engine: Engine(settings), stores: stores, client: "192.0.2.\(number):50000", source: source, share: share,
            streams: streams, now: pool.now)
        self.pool = pool
        side = .client(pool.trace?.nextClient() ?? 0)
        splitter = Splitter(delivery)
    }

    var now: Int { pool.now }
    var trace: Trace? { pool.trace }
    var deadline: Int { machine.wakeAt }
    var isTunnel: Bool { machine.isTunnel }
    var isIdle: Bool { machine.isIdle }
    var isClosed: Bool { machine.isClosed }
    var isOver: Bool { client == .closed || client == .reset }
    /// Calls that nobody here waits for.
    var hasOrphans: Bool { machine.http.exchanges.hasOrphans }
    /// Nothing is under way any more, and nobody is there.
    var isGone: Bool { isOver && !hasOrphans }
    var exchanges: Int { machine.http.exchanges.count }
    /// Nothing of an origin is held.
    var holdsNothing: Bool { leases.isEmpty }
    /// Bytes that the client has not taken.
    var queue: ArraySlice<UInt8> { sent[taken...] }
    /// Bytes that are here for somebody who has not taken them.
    var held: Int {
        machine.http.exchanges.cells.reduce(queue.count + machine.http.intake.pending.count) { sum, cell in
            guard let stream = cell.stream else { return sum }
            return sum + stream.pending.count + machine.http.codec.waiting(on: stream.id)
        }
    }

    func settle() {
        guard !interpreter.isUnderWay else { return }
        execute()
        if isGone { giveAllBack() }
        for case (let id, .stream(let stream)) in leases {
            if let number = stream.id { stream.link.read(number, machine.http.readsOrigin(of: id)) }
        }
        drainWaiting()
    }

    // MARK: the client

    func sendToClient() -> Int? {
        if !isOver { queueForClient(out.client[...]) }
        return queue.count + claimed
    }

    func queueForClient(_ bytes: ArraySlice<UInt8>) {
        sent += bytes
        if pool.takesAtOnce { taken = sent.count }
        trace?.went(bytes, to: side, at: now)
    }

    /// The client takes so many bytes.
    func take(_ count: Int) -> [UInt8] {
        let bytes = Array(queue.prefix(count))
        taken += bytes.count
        guard !bytes.isEmpty, !isOver else { return bytes }
        machine.touched(.client, now: now)
        machine.queuedForClient(queue.count, now: now, &out)
        if queue.isEmpty { machine.clientDrained(now: now) }
        settle()
        return bytes
    }

    func finishClient() -> Bool {
        client = .finished
        went("finished")
        return !holdsOutput && queue.isEmpty
    }

    func closeClient(reset: Bool) {
        if holdsOutput, !reset { client = .finished } else { close(reset ? .reset : .closed) }
    }

    func close(_ state: ClientState) {
        guard !isOver else { return }
        client = state
        securing = nil
        went("\(state)")
        unbind()
        if !hasOrphans { giveAllBack() }
    }

    // MARK: origins

    func lease(_ origin: Origin, _ scope: LeaseScope, _ version: LeaseVersion, for id: ExchangeID) -> LeaseOutcome {
        #expect(machine.http.carriesMany || exchanges > 1 || leases.isEmpty, "a lease while the leg is in use")
        if let stream = standing(origin, scope, version, for: id) { return attach(stream, id, reused: true) }
        dial(origin, version, for: id)
        return .later
    }

    private func standing(
        _ origin: Origin, _ scope: LeaseScope, _ version: LeaseVersion, for id: ExchangeID
    ) -> LinkStream? {
        // AM closes its connections at once
        guard scope != .new, scope != .recent else { return nil }
        if let index = bound.lastIndex(where: { $0.origin == origin }) {
            return LinkStream(link: bound.remove(at: index), id: nil)
        }
        guard scope != .own else { return nil }
        if let link = pool.take(origin) { return LinkStream(link: link, id: nil) }
        guard version == .any || version == .upgrade else { return nil }
        return pool.lend(origin, upgrades: version == .upgrade, to: self, id)
    }

    private func dial(_ origin: Origin, _ version: LeaseVersion, for id: ExchangeID) {
        leases.append((id, .dialing(origin, version)))
        dials += 1
        trace?.went("\(origin)", to: .dial(side.number), at: now)
    }

    func attach(_ stream: LinkStream, _ id: ExchangeID, reused: Bool) -> LeaseOutcome {
        leases.removeAll { $0.id == id }
        leases.append((id, .stream(stream)))
        if stream.id == nil { stream.link.holder = (self, id) }
        if reused { stream.link.note("reused") }
        return .leased(reused: reused, sendsRaw: stream.id == nil)
    }

    func reach(_ origin: Origin, for id: ExchangeID) -> Bool {
        if reachesAnew { dial(origin, .http1, for: id) }
        return !reachesAnew
    }

    func stream(of id: ExchangeID) -> LinkStream? {
        if case .stream(let stream)? = leases.first(where: { $0.id == id })?.lease { stream } else { nil }
    }

    func send(by stream: LinkStream, of id: ExchangeID) -> Int? {
        stream.link.write { $0 += wire }
        if stream.link.isSpent { machine.originLost(id, now: now, &out) }
        return stream.queued
    }

    func release(_ id: ExchangeID, reusable: Bool) -> Bool {
        guard let index = leases.firstIndex(where: { $0.id == id }) else { return false }
        guard case .stream(let stream) = leases.remove(at: index).lease else { return true }
        if let number = stream.id { stream.link.release(number) } else { keep(stream.link, reusable) }
        return true
    }

    private func keep(_ link: OriginLink, _ reusable: Bool) {
        link.holder = nil
        let isKept = reusable && link.codec.isReusable && !link.hasEnded && !link.isSpent && link.queue.isEmpty
        releases.append(isKept)
        guard isKept else { return link.close() }
        link.uses += 1
        link.note("kept")
        if link.isBound { bound.append(link) } else { pool.idle.append(link) }
    }

    private func unbind() {
        bound.forEach { $0.close() }
        bound = []
    }

    private func giveAllBack() { while let id = leases.first?.id { giveBack(id, reusable: false) } }

    // MARK: what takes its time, and the rest

    func check(_ check: PasswordCheck, for id: ExchangeID) -> PasswordVerdict? {
        (checks, checkIDs) = (checks + [check], checkIDs + [id])
        return nil
    }

    func run(_ call: SwiftCall, for id: ExchangeID) -> SwiftAnswer? {
        calls.append((id, call))
        return nil
    }

    func perform(_ command: DriverCommand) {
        switch command {
        case .bind(let id): stream(of: id)?.link.isBound = true
        case .unbind: unbind()
        case .secureClient(let name, let hello):
            securing = (name, hello)
            went("shown the name of \(shownName)")
        case .cancelIntercept(let id):
            calls.removeAll { $0.id == id }
            cancelled += 1
        case .awaitTicket(let id, let ticket):
            awaited.removeAll { $0.ticket == ticket }
            awaited.append((id, ticket))
        case .record(let id): record(id)
        case .proceed: machine.proceed(now: now, &out)
        case .wake: break
        default: Issue.record("nothing here does \(command)")
        }
    }

    private func record(_ id: ExchangeID) {
        machine.http.exchanges.takeRecord(of: id, &out) {
            records.append(copy $0)
            trace?.recorded($0, of: side.number, at: now)
        }
        out.takeFlows()?.forEach { flow, events in
            flows.append((flow, events.map(\.value)))
            trace?.kept(flow, of: side.number, at: now)
        }
    }

    private func went(_ words: String) { trace?.went(words, to: side, at: now) }
}
