import EventLoop
import ProxyCore

/// Idle connections of one loop, by origin; the one used last is used first. Bounded for each origin and in all.
final class OriginPool: ChannelKeeper {
    /// The idle connections to one origin, oldest first. A class, because changing an array inside a dictionary costs an
    /// allocation each time, and this happens twice for every request.
    private final class Shelf {
        var channels: [OriginChannel] = []
    }

    private var shelves: [Origin: Shelf] = [:]
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
        guard let channel = shelves[origin]?.channels.popLast() else { return nil }
        channel.keeper = nil
        count -= 1
        return channel
    }

    func put(_ channel: OriginChannel, now: Int) {
        let shelf = shelf(channel.origin)
        guard channel.isReusable, !channel.isBound, count < total, shelf.channels.count < perOrigin else {
            return channel.leave()
        }
        channel.connection = nil
        channel.keeper = self
        channel.idleSince = now
        shelf.channels.append(channel)
        count += 1
        channel.startReading()
    }

    private func shelf(_ origin: Origin) -> Shelf {
        if let shelf = shelves[origin] { return shelf }
        let shelf = Shelf()
        shelves[origin] = shelf
        return shelf
    }

    func discard(_ channel: OriginChannel) {
        // closing buries the channel, which keeps it alive when the pool lets go of it
        channel.keeper = nil
        channel.leave()
        guard let shelf = shelves[channel.origin],
            let index = shelf.channels.firstIndex(where: { $0 === channel })
        else { return }
        shelf.channels.remove(at: index)
        count -= 1
    }

    /// Closes what has been idle since before `limit`, and forgets origins without a connection.
    func expire(before limit: Int) {
        // each shelf is in the order of time: where its first is young enough there is nothing to do
        for (origin, shelf) in shelves where (shelf.channels.first?.idleSince ?? .min) < limit {
            let old = shelf.channels.firstIndex { $0.idleSince >= limit } ?? shelf.channels.count
            for channel in shelf.channels[..<old] {
                channel.keeper = nil
                channel.leave()
            }
            count -= old
            shelf.channels.removeFirst(old)
            if shelf.channels.isEmpty { shelves[origin] = nil }
        }
    }

    func closeAll() { expire(before: .max) }
}
