internal import EventLoop
public import ProxyCore
internal import TLSEngine

/// AM's decisions, over all loops and generations of the configuration; of whose they are and on what, digests alone.
public final class DecisionTable: DecisionStore {
    private let decisions = Locked(PolicyDecisions())
    private let keyed = KeyedDigest()

    public init() {}

    public var isDry: Bool { false }
    public func digest(_ bytes: [UInt8]) -> UInt128? { keyed.tableKey(bytes) }
    public func change<Result>(_ body: (inout PolicyDecisions) -> Result) -> Result { decisions.withLock(body) }
}
