import EventLoop
import ProxyCore

/// Idle origin connections that carry one client's identity. They serve only that client's connection and end with it. The latest
/// is always kept, so that no client can break another's authentication by holding many.
final class BoundChannels: ChannelKeeper {
    /// Oldest first.
    private var channels: [OriginChannel] = []
    private unowned let pool: OriginPool
    /// The limit of such connections for one client.
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
        // closing defers the release, which keeps the channel alive when it is removed
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
