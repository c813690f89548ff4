import EventLoop
internal import HTTP1
internal import HTTPCodec
import Metrics
import ProxyCore

/// Idle connections of one loop, by origin; the one used last is used first. Bounded for each origin and in all.
final class OriginPool: ChannelKeeper {
    /// The idle connections to one origin, oldest first. A class, because changing an array inside a dictionary costs an
    /// allocation each time, and this happens twice for every request.
    private final class IdleChannels {
        // as the pool's own
        var channels: [OriginChannel] = []
    }

    private var idleByOrigin: [Origin: IdleChannels] = [:]
    /// Connections that carry many exchanges at a time: idle, or with room for more.
    private var shared: [Origin: [OriginChannel]] = [:]
    /// The same, and those that carry only what they carry by now: somebody may wait on each.
    private var carriers: [OriginChannel] = []
    /// Those that are being made for all who come meanwhile.
    var dials = DialTable()
    /// Those by which it is found out whether somebody is there.
    var reaching = DialTable()
    var known = KnownOrigins()
    var life = LifeWatch.Bounds()
    private(set) var count = 0
    /// Idle connections that belong to clients, kept elsewhere. They take no room from those for all.
    var bound = 0
    var perOrigin: Int
    private let total: Int

    init(perOrigin: Int, total: Int) {
        self.perOrigin = perOrigin
        self.total = total
    }

    /// Whether a client that has one of its own may keep another.
    var mayBindMore: Bool { bound < total }

    /// An idle connection to the origin, out of the pool.
    func take(_ origin: Origin) -> OriginChannel? {
        guard let channel = idleByOrigin[origin]?.channels.popLast() else { return nil }
        return handOut(channel)
    }

    private func handOut(_ channel: OriginChannel) -> OriginChannel {
        channel.keeper = nil
        count -= 1
        return channel
    }

    /// A connection to there on which nothing has been said, out of the pool.
    func takeUnused(_ origin: Origin) -> OriginChannel? {
        guard let idle = idleByOrigin[origin], let index = idle.channels.lastIndex(where: \.http1.codec.isUnused) else {
            return nil
        }
        return handOut(idle.channels.remove(at: index))
    }

    /// A connection to there stands, of which the origin has not said that it ends: in TLS, or before anything was said.
    func reaches(_ origin: Origin) -> Bool {
        let secured = origin.secured
        return idleByOrigin[secured]?.channels.isEmpty == false || shared[secured]?.isEmpty == false
            || idleByOrigin[origin]?.channels.contains(where: \.http1.codec.isUnused) == true
    }

    func put(_ channel: OriginChannel, now: Int) {
        let idle = idle(channel.origin)
        guard channel.isReusable, !channel.isBound, count < total, idle.channels.count < perOrigin else {
            return channel.leave()
        }
        channel.keeper = self
        channel.idleSince = now
        idle.channels.append(channel)
        count += 1
        channel.startReading()
    }

    private func idle(_ origin: Origin) -> IdleChannels {
        if let idle = idleByOrigin[origin] { return idle }
        let idle = IdleChannels()
        idleByOrigin[origin] = idle
        return idle
    }

    func discard(_ channel: OriginChannel) {
        // closing defers the channel's release, which keeps it alive when the pool lets go of it
        channel.keeper = nil
        channel.leave()
        guard let idle = idleByOrigin[channel.origin],
            let index = idle.channels.firstIndex(where: { $0 === channel })
        else { return }
        idle.channels.remove(at: index)
        count -= 1
    }

    /// Closes what has been idle since before `limit`, and forgets origins without a connection.
    func expire(before limit: Int) {
        // each list is in the order of time: where its first is young enough there is nothing to do
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

    /// What was judged and agreed on by the old rules serves none of the new generation.
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

    /// What there is of streams for somebody who wants one.
    enum Offer {
        case stream(OriginStream)
        /// It will be known soon whether the origin is there.
        case wait(OriginChannel)
    }

    /// A stream on a connection to the origin that carries many exchanges; nil where none has room.
    func lend(_ origin: Origin, to request: LeaseRequest) -> Offer? {
        guard let channels = shared[origin] else { return nil }
        let wantsFresh = request.scope == .heard
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

    /// Lends streams of that connection from here on.
    func share(_ channel: OriginChannel) {
        known.note(.streams(known.terms(channel.origin)), of: channel.origin)
        shared[channel.origin, default: []].append(channel)
        carriers.append(channel)
    }

    /// Looks at each connection that carries many exchanges whether somebody is at its other end, and counts what is on it.
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
