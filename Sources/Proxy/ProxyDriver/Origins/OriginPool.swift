import EventLoop
internal import HTTP1
internal import HTTPCodec
import Metrics
import ProxyCore

/// The idle connections of one loop by origin, last used first. Bounded for each origin and in total.
final class OriginPool: ChannelKeeper {
    /// The idle connections to one origin, oldest first. A class, because changing an array inside a dictionary costs an
    /// allocation each time, and this happens twice for every request.
    private final class IdleChannels {
        // owned by the pool only
        var channels: [OriginChannel] = []
    }

    private var idleByOrigin: [Origin: IdleChannels] = [:]
    /// The shared connections: idle, or with room for more streams.
    private var shared: [Origin: [OriginChannel]] = [:]
    /// All shared connections, also those that lend no more streams, for liveness checks.
    private var carriers: [OriginChannel] = []
    /// The dials that other requests may join.
    var dials = DialTable()
    /// The dials that only check that an origin can be reached.
    var reaching = DialTable()
    var known = KnownOrigins()
    private var keepers = ConnectionKeepers()
    var life = LifeWatch.Bounds()
    private(set) var count = 0
    /// The count of idle connections bound to clients, kept elsewhere. They do not count towards the pool's limits.
    var bound = 0
    var perOrigin: Int
    private let total: Int

    init(perOrigin: Int, total: Int) {
        self.perOrigin = perOrigin
        self.total = total
    }

    /// Whether clients with a bound connection may keep another.
    var mayBindMore: Bool { bound < total }

    /// Takes an idle connection to the origin.
    func take(_ origin: Origin) -> OriginChannel? {
        guard let channel = idleByOrigin[origin]?.channels.popLast() else { return nil }
        return handOut(channel)
    }

    private func handOut(_ channel: OriginChannel) -> OriginChannel {
        channel.keeper = nil
        count -= 1
        return channel
    }

    /// Takes a recently used connection, if its origin keeps connections.
    func takeRecent(_ origin: Origin, now: Int) -> OriginChannel? {
        guard let channels = idleByOrigin[origin]?.channels, let oldest = channels.first, let last = channels.last
        else { return nil }
        // if the loop was busy, an end may be unread
        if !oldest.holdsUnread { keepers.seen(origin, idle: now - oldest.idleSince) }
        guard !last.holdsUnread else {
            discard(last)
            return nil
        }
        return keepers.isOpen(origin, idle: now - last.idleSince) ? take(origin) : nil
    }

    /// Takes a connection on which nothing was sent yet.
    func takeUnused(_ origin: Origin) -> OriginChannel? {
        guard let idle = idleByOrigin[origin], let index = idle.channels.lastIndex(where: \.http1.codec.isUnused) else {
            return nil
        }
        return handOut(idle.channels.remove(at: index))
    }

    /// Whether an open connection proves that the origin can be reached: with TLS, or an unused one.
    func reaches(_ origin: Origin) -> Bool {
        let secured = origin.secured
        return idleByOrigin[secured]?.channels.isEmpty == false || shared[secured]?.isEmpty == false
            || idleByOrigin[origin]?.channels.contains(where: \.http1.codec.isUnused) == true
    }

    func put(_ channel: OriginChannel, now: Int) {
        let idle = idle(channel.origin)
        if channel.origin.isForCalls { dropOld(idle, now) }
        guard channel.isReusable, !channel.isBound, count < total, idle.channels.count < perOrigin else {
            return channel.leave()
        }
        channel.keeper = self
        channel.idleSince = now
        idle.channels.append(channel)
        count += 1
        channel.startReading()
    }

    /// Closes connections of calls that are too old for another call. The newest stays: it shows that its origin keeps
    /// connections.
    private func dropOld(_ idle: IdleChannels, _ now: Int) {
        while let oldest = idle.channels.first,
            idle.channels.count >= perOrigin
                || idle.channels.count > 1 && ConnectionKeepers.isOld(now - oldest.idleSince)
        {
            close(oldest)
        }
    }

    private func idle(_ origin: Origin) -> IdleChannels {
        if let idle = idleByOrigin[origin] { return idle }
        let idle = IdleChannels()
        idleByOrigin[origin] = idle
        return idle
    }

    /// Closes a connection that the origin closed, or sent unexpected data on.
    func discard(_ channel: OriginChannel) {
        keepers.closed(channel.origin, idle: channel.loop.now - channel.idleSince)
        close(channel)
    }

    private func close(_ channel: OriginChannel) {
        // closing defers the release, which keeps the channel alive when the pool removes it
        channel.keeper = nil
        channel.leave()
        guard let idle = idleByOrigin[channel.origin],
            let index = idle.channels.firstIndex(where: { $0 === channel })
        else { return }
        idle.channels.remove(at: index)
        count -= 1
    }

    /// Closes connections idle since before `limit`, and removes empty lists.
    func expire(before limit: Int) {
        // lists are in order of time, so a recent first entry means that nothing has expired
        for (origin, idle) in idleByOrigin where (idle.channels.first?.idleSince ?? .min) < limit {
            let old = idle.channels.firstIndex { $0.idleSince >= limit } ?? idle.channels.count
            for channel in idle.channels[..<old] {
                channel.keeper = nil
                channel.leave()
            }
            count -= old
            idle.channels.removeFirst(old)
            if idle.channels.isEmpty { idleByOrigin[origin] = nil }
        }
        for channel in shared.values.joined() where channel.shared?.isIdle == true && channel.idleSince < limit {
            channel.shared?.withdraw()
        }
    }

    /// Closes connections and dials of the old configuration.
    func forgetAll() {
        closeAll()
        dials.close()
        reaching.close()
    }

    func closeAll() {
        expire(before: .max)
        for channel in shared.values.joined() { channel.shared?.withdraw() }
    }

    // MARK: streams

    /// A stream for a request, or a wait for one.
    enum Offer {
        case stream(OriginStream)
        /// The origin's liveness is being checked.
        case wait(OriginChannel)
    }

    /// A stream on a shared connection; nil if none has room.
    func lend(_ origin: Origin, to request: LeaseRequest) -> Offer? {
        guard let channels = shared[origin] else { return nil }
        let wantsFresh = request.scope != .any
        for channel in channels {
            guard let streams = channel.shared, !wantsFresh || streams.isFresh else { continue }
            if request.version == .upgrade, !streams.takesUpgrades { continue }
            if let id = streams.lend(to: request.connection, request.exchange) {
                return .stream(OriginStream(channel: channel, id: id))
            }
        }
        guard wantsFresh, request.version != .upgrade else { return nil }
        return channels.first { $0.shared?.probe(for: request) == true }.map { .wait($0) }
    }

    /// Adds a shared connection.
    func share(_ channel: OriginChannel) {
        known.note(.streams(known.terms(channel.origin)), of: channel.origin)
        shared[channel.origin, default: []].append(channel)
        carriers.append(channel)
    }

    /// Checks the liveness of shared connections and counts their streams.
    func look(_ timeouts: Timeouts, _ metrics: LoopMetrics) {
        var open = 0
        for channel in carriers {
            guard let shared = channel.shared else { continue }
            shared.look(timeouts)
            open += shared.count
            metrics.count(shared.codec.takeTally(), ofClients: false)
        }
        metrics.set(.originStreams, open)
        if !carriers.isEmpty { carriers.removeAll { $0.isClosed } }
    }

    func unshare(_ channel: OriginChannel) {
        let others = (shared[channel.origin] ?? []).filter { $0 !== channel }
        shared[channel.origin] = others.isEmpty ? nil : others
    }
}
