import EventLoop
public import ProxyCore

/// The refused certificates of all loops. It is used once for each tunnel that may be decrypted.
public final class RefusalTable: RefusalStore {
    private let counts = Locked(RefusalCounts())

    public init() {}

    public func began(_ place: ServerPlace, by client: ClientKey) {
        counts.withLock { $0.began(place, by: client) }
    }

    public func ended(_ place: ServerPlace, by client: ClientKey, isDone: Bool) {
        counts.withLock { $0.ended(place, by: client, isDone: isDone, now: Loop.monotonicMilliseconds()) }
    }

    public func refused(_ place: ServerPlace, by client: ClientKey) {
        counts.withLock { $0.refused(place, by: client, now: Loop.monotonicMilliseconds()) }
    }

    public func left(_ place: ServerPlace, by client: ClientKey) -> RefusalCounts.Departure {
        counts.withLock { $0.left(place, by: client, now: Loop.monotonicMilliseconds()) }
    }

    public func accepted(_ place: ServerPlace, by client: ClientKey) {
        counts.withLock { $0.accepted(place, by: client, now: Loop.monotonicMilliseconds()) }
    }

    public func isLeftAlone(_ place: ServerPlace, for client: ClientKey) -> Bool {
        counts.withLock { $0.isLeftAlone(place, for: client, now: Loop.monotonicMilliseconds()) }
    }
}
