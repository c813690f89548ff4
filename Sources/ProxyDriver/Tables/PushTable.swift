public import Authorization
internal import EventLoop

/// The memory of devices, for all loops.
public final class PushTable: PushStore, Sendable {
    private let memory = Locked(DeviceMemory())

    public init() {}

    public func change<Result>(_ body: (inout DeviceMemory) -> Result) -> Result { memory.withLock(body) }
}
