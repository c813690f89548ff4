import Authorization
import HTTP1
import HTTP2
import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// Carries out the orders of a connection with many exchanges at a time, as the driver does, with arrays for sockets and a
/// number for the clock.
final class StreamDriver {
    enum ClientState: Equatable { case open, finished, closed, reset }

    /// What an exchange has of an origin.
    private enum Lease {
        case dialing(Origin, LeaseVersion)
        case stream(OriginLink, StreamID?)
    }

    private var machine: ClientConnection
    private var out = Outbox()
    private let pool: LinkPool
    private let side: Trace.Side
    private var leases: [(id: ExchangeID, lease: Lease)] = []
    /// Connections of this client alone.
    private var bound: [OriginLink] = []
    private var isSettling = false
    private var bodyDone = 0
    private var hasEnded = false
    /// Bytes that the client has not taken.
    private(set) var queue: [UInt8] = []
    private(set) var client = ClientState.open
    private(set) var records: [ExchangeRecord] = []
    private(set) var dials = 0

    init(
        _ settings: Settings, _ pool: LinkPool, flows: any FlowStore, number: Int = 1
    ) {
        self.pool = pool
        side = .client(pool.trace?.nextClient() ?? 0)
        machine = ClientConnection(
            engine: Engine(settings), stores: SharedStores(flows: flows), client: "192.0.2.\(number):50000",
            now: pool.now)
    }

    var now: Int { pool.now }
    private var trace: Trace? { pool.trace }
    private func came(_ words: String) { trace?.came(words, from: side, at: now) }
    var deadline: Int { machine.wakeAt }
    var isIdle: Bool { machine.isIdle }
    var isOver: Bool { client == .closed || client == .reset }
    var exchanges: Int { machine.exchangesUnderWay }
    /// Bytes that are here for somebody who has not taken them.
    var held: Int {
        machine.cells.reduce(queue.count + machine.intake.pending.count) { sum, cell in
            guard let stream = cell.stream else { return sum }
            return sum + stream.pending.count + (machine.streams?.waiting(on: stream.id) ?? 0)
        }
    }
    /// Nothing of an origin is held.
    var holdsNothing: Bool { leases.isEmpty }

    // MARK: the client

    var readsClient: Bool { !hasEnded && !isOver && machine.readsClient }

    func fromClient(_ bytes: [UInt8]) {
        guard !isOver, !bytes.isEmpty else { return }
        trace?.came(bytes, from: side, at: now)
        let count = machine.relays(from: .client, of: bytes.count)
        if count > 0 {
            whole?.write { $0 += bytes[..<count] }
            machine.relayedFromClient(count, now: now, &out)
        }
        if count < bytes.count { machine.received(Array(bytes[count...]).span, now: now, &out) }
        settle()
    }

    /// The connection that the client's bytes may go to as they are.
    private var whole: OriginLink? {
        for (_, lease) in leases { if case .stream(let link, nil) = lease { return link } }
        return nil
    }

    /// It takes so many bytes.
    func take(_ count: Int) -> [UInt8] {
        let bytes = Array(queue.prefix(count))
        queue.removeFirst(bytes.count)
        guard !bytes.isEmpty, !isOver else { return bytes }
        machine.touched(.client, now: now)
        machine.queuedForClient(queue.count, now: now, &out)
        if queue.isEmpty { machine.clientDrained(now: now) }
        settle()
        return bytes
    }

    func clientEnds() {
        guard !isOver, !hasEnded else { return }
        hasEnded = true
        came("ends")
        machine.clientEnded(now: now, &out)
        settle()
    }

    func clientIsLost() {
        guard !isOver else { return }
        came("is lost")
        machine.clientLost(now: now, &out)
        settle()
        if !isOver { close(.reset) }
    }

    // MARK: connections that are being made

    /// The oldest.
    var dialing: (origin: Origin, mayShare: Bool)? {
        for (_, lease) in leases {
            if case .dialing(let origin, let version) = lease { return (origin, version == .any) }
        }
        return nil
    }

    private var dialingFor: ExchangeID? { leases.first { if case .dialing = $0.lease { true } else { false } }?.id }

    /// - Parameter http2: what the origin speaks, where that is asked for.
    @discardableResult
    func connects(http2: Bool) -> OriginLink? {
        guard let (origin, mayShare) = dialing, let id = dialingFor else { return nil }
        let link = OriginLink(origin, speaksHTTP2: http2 && mayShare, pool)
        attach(link, link.lend(to: self, id, isFirst: true), id, reused: false)
        settle()
        return link
    }

    func dialFails(_ failure: LeaseFailure) {
        guard let id = dialingFor else { return }
        came("dial fails")
        leases.removeAll { $0.id == id }
        machine.leaseFailed(failure, id, now: now, &out)
        settle()
    }

    private func attach(_ link: OriginLink, _ stream: StreamID?, _ id: ExchangeID, reused: Bool) {
        leases.removeAll { $0.id == id }
        leases.append((id, .stream(link, stream)))
        if stream == nil { link.holder = (self, id) }
        machine.leased(id, reused: reused, sendsRaw: stream == nil, now: now, &out)
    }

    // MARK: origins

    func readsOrigin(of id: ExchangeID) -> Bool { machine.readsOrigin(of: id) }

    func originSaid(_ bytes: [UInt8], on link: OriginLink, for id: ExchangeID) {
        let count = machine.relays(from: .origin, of: bytes.count)
        if count > 0 {
            if !isOver { queueForClient(bytes[..<count]) }
            machine.queuedForClient(queue.count, now: now, &out)
            machine.relayedFromOrigin(count, through: &link.leg, for: id, now: now, &out)
        }
        if count < bytes.count {
            machine.received(Array(bytes[count...]).span, through: &link.leg, for: id, now: now, &out)
        }
        settle()
    }

    func originEnded(cleanly: Bool, on link: OriginLink, for id: ExchangeID) {
        machine.originEnded(through: &link.leg, for: id, cleanly: cleanly, now: now, &out)
        settle()
    }

    func streamCame(_ event: ResponseEvent, _ bytes: [UInt8], _ leg: HTTP2Client, _ id: ExchangeID) {
        machine.received(event, of: bytes.span, through: leg, for: id, now: now, &out)
        settle()
    }

    func streamBroke(_ fault: HTTPFault, _ id: ExchangeID) {
        machine.originBroke(fault, for: id, now: now, &out)
        settle()
    }

    func streamEnded(_ id: ExchangeID, _ ending: StreamEnding) {
        machine.streamEnded(for: id, ending, now: now, &out)
        settle()
    }

    func originIsLost(_ id: ExchangeID) {
        machine.originLost(id, now: now, &out)
        settle()
    }

    func originDrained(_ id: ExchangeID) {
        noteQueue(id)
        settle()
    }

    private func noteQueue(_ id: ExchangeID) {
        guard case .stream(let link, let stream)? = lease(id) else { return }
        machine.queuedForOrigin(link.queued(for: stream), of: id, now: now, &out)
    }

    private func lease(_ id: ExchangeID) -> Lease? { leases.first { $0.id == id }?.lease }

    // MARK: time

    func wake() {
        machine.woke(now: now, &out)
        settle()
    }

    // MARK: orders

    private func settle() {
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
        out.clearOrders()
        out.clearOrigin()
        bodyDone = 0
        isSettling = false
        guard !isOver else { return }
        for (id, lease) in leases {
            if case .stream(let link, let stream?) = lease { link.read(stream, machine.readsOrigin(of: id)) }
        }
    }

    private func flush() {
        machine.flush(&out)
        guard !out.client.isEmpty else { return }
        if !isOver { queueForClient(out.client[...]) }
        out.clearClient()
        machine.queuedForClient(queue.count, now: now, &out)
    }

    private func queueForClient(_ bytes: ArraySlice<UInt8>) {
        queue += bytes
        trace?.went(bytes, to: side, at: now)
    }

    private func write(_ id: ExchangeID, _ body: (OriginLink, StreamID?, inout [UInt8]) -> Void) {
        guard case .stream(let link, let stream)? = lease(id) else { return }
        link.write { body(link, stream, &$0) }
        if link.isSpent { machine.originLost(id, now: now, &out) }
        noteQueue(id)
    }

    private func body(_ count: Int) -> [UInt8] {
        defer { bodyDone += count }
        return Array(out.origin[bodyDone..<bodyDone + count])
    }

    private func perform(_ order: Order) {
        switch order {
        case .lease(let id, let wanted, let scope, let version): lease(id, wanted, scope, version)
        case .send(let id, let index):
            let (head, forwarding) = (out.heads[index].head, out.heads[index].forwarding)
            write(id) { link, stream, wire in
                if let stream, let shared = link.shared {
                    shared.send(head, forwarding, on: stream, to: &wire)
                } else {
                    link.leg.send(head, forwarding, to: &wire)
                }
            }
        case .sendBody(let id, let count):
            let bytes = body(count)
            write(id) { link, stream, wire in
                if let stream, let shared = link.shared {
                    shared.write(bytes.span, on: stream, to: &wire)
                } else {
                    link.leg.write(bytes.span, to: &wire)
                }
            }
        case .sendRaw(let id, let count):
            let bytes = body(count)
            write(id) { link, stream, wire in
                if let stream, let shared = link.shared {
                    shared.write(bytes.span, on: stream, to: &wire)
                } else {
                    wire += bytes
                }
            }
        case .sendEnd(let id, let trailers):
            write(id) { link, stream, wire in
                if let stream, let shared = link.shared {
                    shared.end(trailers: trailers, on: stream, to: &wire)
                } else {
                    link.leg.end(trailers: trailers, to: &wire)
                }
            }
        case .bind(let id): if case .stream(let link, _)? = lease(id) { link.isBound = true }
        case .unbind:
            bound.forEach { $0.close() }
            bound = []
        case .release(let id, let reusable): release(id, reusable)
        case .finishClient:
            client = .finished
            trace?.went("finished", to: side, at: now)
            if queue.isEmpty { machine.clientDrained(now: now) }
        case .finishOrigin(let id):
            write(id) { link, stream, wire in
                if let stream { link.shared?.end(trailers: [], on: stream, to: &wire) } else { link.finish() }
            }
        case .closeClient(let reset): close(reset ? .reset : .closed)
        case .record(let id):
            machine.takeRecord(of: id, &out) {
                records.append(copy $0)
                trace?.recorded($0, of: side.number, at: now)
            }
        case .proceed: machine.proceed(now: now, &out)
        case .wake: break
        case .reach, .carry, .secureClient, .authenticate, .awaitTurn, .awaitPerson, .awaitFlight, .intercept,
            .cancelIntercept:
            Issue.record("nothing here asks for \(order)")
        }
    }

    private func lease(_ id: ExchangeID, _ wanted: Origin, _ scope: LeaseScope, _ version: LeaseVersion) {
        if scope != .new, let index = bound.lastIndex(where: { $0.origin == wanted }) {
            return attach(bound.remove(at: index), nil, id, reused: true)
        }
        if scope == .any || scope == .heard, let link = pool.take(wanted) { return attach(link, nil, id, reused: true) }
        let shares = scope == .any || scope == .heard
        if shares, version == .any || version == .upgrade,
            let (link, stream) = pool.lend(wanted, upgrades: version == .upgrade, to: self, id)
        {
            return attach(link, stream, id, reused: true)
        }
        leases.append((id, .dialing(wanted, version)))
        dials += 1
        trace?.went("\(wanted)", to: .dial(side.number), at: now)
    }

    private func release(_ id: ExchangeID, _ reusable: Bool) {
        guard let index = leases.firstIndex(where: { $0.id == id }) else { return }
        guard case .stream(let link, let stream) = leases.remove(at: index).lease else { return machine.released(id) }
        if let stream {
            link.release(stream)
        } else {
            link.holder = nil
            let isFree = reusable && link.leg.isReusable && !link.hasEnded && !link.isSpent && link.queue.isEmpty
            if !isFree {
                link.close()
            } else {
                link.uses += 1
                link.note("kept")
                if link.isBound { bound.append(link) } else { pool.idle.append(link) }
            }
        }
        machine.released(id)
    }

    private func close(_ state: ClientState) {
        guard !isOver else { return }
        client = state
        trace?.went("\(state)", to: side, at: now)
        while let id = leases.first?.id { release(id, false) }
        bound.forEach { $0.close() }
        bound = []
    }
}
