import EventLoop
import ProxyCore

/// Idle connections to origins that carry the identity of one client: they serve that client's connection alone, and end
/// with it. The latest is kept whatever others have: nobody can break off a conversation by holding many.
final class BoundChannels: ChannelKeeper {
    /// Oldest first.
    private var channels: [OriginChannel] = []
    private unowned let pool: OriginPool
    /// Origins with which one client is in conversation at once.
    static let limit = 4

    init(pool: OriginPool) { self.pool = pool }

    var count: Int { channels.count }

    func take(_ origin: Origin) -> OriginChannel? {
        channels.lastIndex { $0.origin == origin }.map(remove)
    }

    func put(_ channel: OriginChannel) {
        guard channel.isReusable else { return channel.leave() }
        let isFull = channels.count >= Self.limit || !pool.mayBindMore
        if isFull, !channels.isEmpty { remove(at: 0).leave() }
        channel.keeper = self
        channels.append(channel)
        pool.bound += 1
        channel.startReading()
    }

    func discard(_ channel: OriginChannel) {
        // closing defers the channel's release, which keeps it alive when this lets go of it
        channel.leave()
        if let index = channels.firstIndex(where: { $0 === channel }) { remove(at: index) }
    }

    func closeAll() {
        while !channels.isEmpty { remove(at: channels.count - 1).leave() }
    }

    @discardableResult
    private func remove(at index: Int) -> OriginChannel {
        pool.bound -= 1
        let channel = channels.remove(at: index)
        channel.keeper = nil
        return channel
    }
}
