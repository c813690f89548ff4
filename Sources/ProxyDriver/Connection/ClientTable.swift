import EventLoop
public import ProxyCore

/// The connections that clients hold, across all loops.
public final class ClientTable: ShareStore {
    private let shares = Locked(ClientShares())

    public init() {}

    public func withShares<Result>(_ body: (inout ClientShares) -> Result) -> Result { shares.withLock(body) }
}
