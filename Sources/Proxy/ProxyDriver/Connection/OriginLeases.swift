import EventLoop
internal import HTTPCodec
import Metrics
import ProxyCore

/// Leases streams of origin connections for the exchanges of one client connection, from existing or new connections.
final class OriginLeases {
    /// The connection's worker.
    private let worker: Worker
    private(set) var streams = StreamTable()
    /// Idle connections bound to this client's identity. Created with the first one.
    private var bound: BoundChannels?

    init(_ worker: Worker) { self.worker = worker }

    // MARK: existing connections

    /// Leases a stream of an existing connection; else waits for one that is being made, or dials.
    func lease(_ wanted: Origin, _ request: LeaseRequest) {
        var request = request
        if request.version == .upgrade {
            if let offer = sharedStream(wanted, request) { return use(offer, request) }
            if !takesUpgrades(wanted, request) {
                request.version = .http1
                if worker.protocols.mayCarryMany(wanted, worker.settings.engine) { request.streamUse = .lastResort }
            }
        }
        if request.version != .upgrade, let channel = idle(wanted, request.scope),
            let stream = channel.codec.lend(to: request)
        {
            worker.metrics.count(.leasedIdle)
            attach(OriginStream(channel: channel, id: stream), request, reused: true)
        } else if request.version == .any, let offer = sharedStream(wanted, request) {
            use(offer, request)
        } else {
            dial(wanted, request)
        }
    }

    /// An idle HTTP/1 connection.
    func idle(_ wanted: Origin, _ scope: LeaseScope) -> OriginChannel? {
        guard scope != .new, worker.mayReuse(wanted) else { return nil }
        if scope == .recent { return worker.origins.pool.takeRecent(wanted.poolKey, now: worker.loop.now) }
        if let channel = bound?.take(wanted.poolKey) { return channel }
        return scope == .own ? nil : worker.origins.pool.take(wanted.poolKey)
    }

    /// A stream on a shared connection. A request that must not be repeated needs a connection that was heard from recently.
    private func sharedStream(_ wanted: Origin, _ request: LeaseRequest) -> OriginPool.Offer? {
        guard request.version.takesStreams, request.scope.takesShared, worker.mayReuse(wanted)
        else { return nil }
        return worker.origins.pool.lend(wanted.poolKey, to: request)
    }

    private func use(_ offer: OriginPool.Offer, _ request: LeaseRequest) {
        switch offer {
        case .stream(let stream):
            worker.metrics.count(.leasedShared)
            attach(stream, request, reused: true)
        case .wait(let channel): streams[request.exchange] = .probe(channel)
        }
    }

    private func attach(_ stream: OriginStream, _ request: LeaseRequest, reused: Bool) {
        streams[request.exchange] = .stream(stream)
        request.connection.machine.happened(
            .leased(reused: reused, sendsRaw: stream.codec.relay != nil), to: request.exchange, now: worker.loop.now,
            &worker.out)
    }

    // MARK: new connections

    /// Whether an Upgrade can use a stream: the origin accepted it last time, or speaks only HTTP/2. Otherwise it uses HTTP/1.
    private func takesUpgrades(_ wanted: Origin, _ request: LeaseRequest) -> Bool {
        guard worker.protocols.mayCarryMany(wanted, worker.settings.engine) else { return false }
        guard wanted.scheme == .https, request.streamUse != .only else { return true }
        return worker.origins.pool.known.terms(wanted).takesUpgrades
            && request.disappointments < LeaseRequest.maxDisappointments
    }

    /// Dials, or joins a dial that may become a shared connection. For an unknown origin, concurrent requests wait for one
    /// handshake only. For a known HTTP/1 origin, nobody waits.
    private func dial(_ wanted: Origin, _ request: LeaseRequest) {
        let mayCarryMany =
            request.version.takesStreams && worker.origins.pool.known[wanted] != .exchanges
            && worker.protocols.mayCarryMany(wanted, worker.settings.engine)
        if mayCarryMany, request.disappointments < LeaseRequest.maxDisappointments,
            let dial = worker.origins.pool.dials.joinable(wanted, now: worker.loop.now)
        {
            streams[request.exchange] = .dial(dial)
            return dial.join(request)
        }
        let dial = Dial(wanted, for: request, worker: worker)
        if mayCarryMany { worker.origins.pool.dials.add(dial) }
        streams[request.exchange] = .dial(dial)
        dial.start()
    }

    /// Checks that an origin can be reached. An existing connection proves it. Otherwise one is dialed for all who ask meanwhile;
    /// the tunnel or its first request uses it.
    func reach(_ wanted: Origin, _ exchange: ExchangeID, for connection: Connection) {
        if worker.mayReuse(wanted), worker.origins.pool.reaches(wanted) {
            return connection.machine.happened(.reached, to: exchange, now: worker.loop.now, &worker.out)
        }
        let request = LeaseRequest(
            connection: connection, exchange: exchange, scope: .new, version: .http1, asksPresence: true)
        if let dial = worker.origins.pool.reaching.joinable(wanted, now: worker.loop.now) {
            streams[exchange] = .dial(dial)
            return dial.join(request)
        }
        let dial = Dial(wanted, for: request, worker: worker)
        worker.origins.pool.reaching.add(dial)
        streams[exchange] = .dial(dial)
        dial.start()
    }

    /// Creates the in-memory connection of a tunnel in a client's stream.
    func carry(_ id: ExchangeID, for connection: Connection) {
        do {
            let channel = worker.connect(try connection.machine.http.carried(now: worker.loop.now))
            let stream = channel.http1.lend(to: connection, id)
            streams[id] = .stream(OriginStream(channel: channel, id: stream))
            channel.startReading()
        } catch {
            connection.machine.happened(.tunnelRefused(error), to: id, now: worker.loop.now, &worker.out)
        }
    }

    // MARK: results of dials

    /// Leases a stream of the new connection.
    /// - Parameter first: bytes that the origin sent before the request.
    func dialed(_ channel: OriginChannel, _ request: LeaseRequest, first: [UInt8]) {
        let codec = channel.codec
        if codec.awaitTerms(request) {
            streams[request.exchange] = .probe(channel)
        } else if let stream = codec.lend(to: request) {
            attach(OriginStream(channel: channel, id: stream), request, reused: false)
            request.connection.settle()
        } else {
            codec.withdraw()
            return failed(.failed("the origin has no room for a stream"), request)
        }
        codec.begin(with: first, for: request)
    }

    /// Leases a stream of a connection that was dialed for another request.
    func joined(_ channel: OriginChannel, to wanted: Origin, _ request: LeaseRequest) {
        let codec = channel.codec
        if request.asksPresence { return reached(request) }
        if codec.awaitTerms(request) { return streams[request.exchange] = .probe(channel) }
        guard let stream = codec.lend(to: request, isAnother: true) else { return leaseAgain(wanted, request) }
        worker.metrics.count(.leasedShared)
        attach(OriginStream(channel: channel, id: stream), request, reused: false)
        request.connection.settle()
    }

    private func reached(_ request: LeaseRequest) {
        streams.remove(request.exchange)
        request.connection.machine.happened(.reached, to: request.exchange, now: worker.loop.now, &worker.out)
        request.connection.settle()
    }

    /// Leases a stream after the origin has proved to be alive.
    func probed(_ stream: OriginStream, _ request: LeaseRequest) {
        worker.metrics.count(.leasedShared)
        attach(stream, request, reused: true)
        request.connection.settle()
    }

    /// Retries an Upgrade in a stream, because the origin does not speak HTTP/1.
    func leaseStream(_ wanted: Origin, _ request: LeaseRequest) {
        streams.remove(request.exchange)
        var request = request
        request.version = .upgrade
        request.streamUse = .only
        lease(wanted, request)
        request.connection.settle()
    }

    /// Leases again after a wait without a result.
    func leaseAgain(_ wanted: Origin, _ request: LeaseRequest) {
        streams.remove(request.exchange)
        if request.asksPresence {
            reach(wanted, request.exchange, for: request.connection)
            return request.connection.settle()
        }
        guard request.version != .upgrade || wanted.scheme == .https && request.streamUse != .only else {
            return failed(.failed("it is spoken to in HTTP/2, and took no Upgrade there"), request)
        }
        var request = request
        request.disappointments += 1
        lease(wanted, request)
        request.connection.settle()
    }

    func failed(_ failure: LeaseFailure, _ request: LeaseRequest) {
        streams.remove(request.exchange)
        request.connection.machine.happened(
            .leaseFailed(failure), to: request.exchange, now: worker.loop.now, &worker.out)
        request.connection.settle()
    }

    // MARK: reading

    /// Marks an exchange as changed.
    func note(_ id: ExchangeID) { streams.note(id) }

    func read(all: Bool, _ isWanted: (ExchangeID) -> Bool) { streams.read(all: all, isWanted) }

    // MARK: the end

    /// - Returns: false when the exchange had no stream.
    func release(_ id: ExchangeID, reusable: Bool, of connection: Connection) -> Bool {
        switch streams.remove(id) {
        case .dial(let dial): dial.leave(connection, id)
        case .probe(let channel): channel.codec.leave(connection, id)
        case .stream(let stream):
            if let isFree = stream.codec.release(stream.id, reusable: reusable) { keep(stream.channel, isFree) }
        case nil: return false
        }
        return true
    }

    func releaseAll(of connection: Connection) {
        while let id = streams.any { connection.giveBack(id, reusable: false) }
    }

    private func keep(_ channel: OriginChannel, _ isReusable: Bool) {
        guard isReusable else {
            // a side that has finished before has sent everything
            return channel.isWithinLoop && !channel.hasFinished ? channel.reset() : channel.leave()
        }
        guard channel.isBound else { return worker.origins.pool.put(channel, now: worker.loop.now) }
        let bound = bound ?? BoundChannels(pool: worker.origins.pool)
        self.bound = bound
        bound.put(channel)
    }

    /// Closes idle connections bound to the client's identity.
    func unbind() { bound?.closeAll() }
}
