import EventLoop
import ProxyCore

/// Idle connections of one loop, by origin; the one used last is used first. Bounded for each origin and in all.
final class OriginPool {
    private var idle: [Origin: [OriginChannel]] = [:]
    private(set) var count = 0
    var perOrigin: Int
    private let total: Int

    init(perOrigin: Int, total: Int) {
        self.perOrigin = perOrigin
        self.total = total
    }

    /// An idle connection to the origin, out of the pool.
    func take(_ origin: Origin) -> OriginChannel? {
        guard let channel = idle[origin]?.popLast() else { return nil }
        channel.pool = nil
        count -= 1
        return channel
    }

    func put(_ channel: OriginChannel, now: Int) {
        guard count < total, idle[channel.origin, default: []].count < perOrigin else { return channel.close() }
        channel.connection = nil
        channel.pool = self
        channel.idleSince = now
        idle[channel.origin, default: []].append(channel)
        count += 1
        channel.startReading()
    }

    /// The origin closed an idle connection, or spoke without being asked.
    func discard(_ channel: OriginChannel) {
        // closing buries the channel, which keeps it alive when the pool lets go of it
        channel.pool = nil
        channel.close()
        guard let index = idle[channel.origin]?.firstIndex(where: { $0 === channel }) else { return }
        idle[channel.origin]?.remove(at: index)
        count -= 1
    }

    /// Closes what has been idle since before `limit`.
    func expire(before limit: Int) {
        // each list is in the order of time: where its first is young enough there is nothing to do
        for origin in idle.filter({ ($0.value.first?.idleSince ?? 0) < limit }).keys {
            guard var channels = idle.removeValue(forKey: origin) else { continue }
            let old = channels.firstIndex { $0.idleSince >= limit } ?? channels.count
            for channel in channels[..<old] {
                channel.pool = nil
                channel.close()
            }
            count -= old
            channels.removeFirst(old)
            if !channels.isEmpty { idle[origin] = channels }
        }
    }

    func closeAll() { expire(before: .max) }
}
