import EventLoop
public import ProxyCore

/// The memory of refused certificates that all loops share. Asked once for each tunnel, and only where `tls.on_refusal` is
/// `tunnel`.
public final class RefusalTable: RefusalStore {
    private let counts = Locked(RefusalCounts())

    public init() {}

    public func refused(_ host: String, by client: ClientKey) {
        counts.withLock { $0.refused(host, by: client, now: Loop.monotonicMilliseconds()) }
    }

    public func accepted(_ host: String, by client: ClientKey) {
        counts.withLock { $0.accepted(host, by: client) }
    }

    public func isLeftAlone(_ host: String, for client: ClientKey) -> Bool {
        counts.withLock { $0.isLeftAlone(host, for: client, now: Loop.monotonicMilliseconds()) }
    }
}
