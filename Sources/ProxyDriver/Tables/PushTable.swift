public import Authorization
internal import EventLoop

/// What devices have in memory, shared by all loops.
public final class PushTable: PushStore, Sendable {
    private let memory = Locked(DeviceMemory())

    public init() {}

    public func change<Result>(_ body: (inout DeviceMemory) -> Result) -> Result { memory.withLock(body) }
}
