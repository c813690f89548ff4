import EventLoop
import ProxyCore

/// Idle connections of one loop, by origin; the one used last is used first.
final class OriginPool {
    private var idle: [Origin: [OriginChannel]] = [:]
    private let perOrigin: Int

    init(perOrigin: Int) { self.perOrigin = perOrigin }

    /// An idle connection to the origin, out of the pool.
    func take(_ origin: Origin) -> OriginChannel? {
        guard let channel = idle[origin]?.popLast() else { return nil }
        channel.pool = nil
        return channel
    }

    func put(_ channel: OriginChannel, now: Int) {
        guard idle[channel.origin, default: []].count < perOrigin else { return channel.close() }
        channel.connection = nil
        channel.pool = self
        channel.idleSince = now
        channel.startReading()
        idle[channel.origin, default: []].append(channel)
    }

    /// The origin closed an idle connection, or spoke without being asked.
    func discard(_ channel: OriginChannel) {
        // closing buries the channel, which keeps it alive when the pool lets go of it
        channel.pool = nil
        channel.close()
        idle[channel.origin]?.removeAll { $0 === channel }
    }

    /// Closes what has been idle since before `limit`.
    func expire(before limit: Int) {
        for (origin, channels) in idle {
            let (old, kept) = (channels.filter { $0.idleSince < limit }, channels.filter { $0.idleSince >= limit })
            for channel in old {
                channel.pool = nil
                channel.close()
            }
            idle[origin] = kept.isEmpty ? nil : kept
        }
    }

    func closeAll() { expire(before: .max) }
}
