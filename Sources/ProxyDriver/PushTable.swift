public import Authorization
internal import EventLoop

/// Pushes for devices, shared by all loops. Asked where one is delivered, and while a step-up waits that has a device.
public final class PushTable: PushStore, Sendable {
    private let inbox = Locked(PushInbox())

    public init() {}

    public func change<Result>(_ body: (inout PushInbox) -> Result) -> Result { inbox.withLock(body) }
}
