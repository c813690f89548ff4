/// A one-shot timer on a loop, for the few waits that need more precision than the sweep.
public final class Alarm: EventSource {
    private var event: EventHandle?
    private let action: () -> Void

    /// Creates an alarm that is not set.
    /// - Throws: `SystemError` if libevent has no memory.
    public init(loop: Loop, _ action: @escaping () -> Void) throws(SystemError) {
        self.action = action
        super.init(loop: loop)
        event = try EventHandle.pointing(at: self, loop, -1, 0)
    }

    /// Sets the alarm to fire after so many milliseconds, and drops an earlier setting.
    /// - Returns: false if libevent has no memory.
    public func set(milliseconds: Int) -> Bool { event?.add(afterMilliseconds: max(milliseconds, 0)) ?? false }

    public override func ready(_ events: Int16) {
        loop.refreshNow()
        action()
    }

    /// Cancels the alarm for ever.
    public func cancel() {
        event?.remove()
        event = nil
        loop.deferRelease(self)
    }
}
