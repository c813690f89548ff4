import EventLoop
public import ProxyCore

/// What clients hold, over all loops.
public final class ClientTable: ShareStore {
    private let shares = Locked(ClientShares())

    public init() {}

    public func withShares<Result>(_ body: (inout ClientShares) -> Result) -> Result { shares.withLock(body) }
}
