/// Calls back on its loop once, at a time of its own: for the few waits that the sweep is too coarse for.
public final class Alarm: EventSource {
    private var event: EventHandle?
    private let action: () -> Void

    /// Not set yet.
    /// - Throws: `SystemError` when libevent has no memory for it.
    public init(loop: Loop, _ action: @escaping () -> Void) throws(SystemError) {
        self.action = action
        super.init(loop: loop)
        event = try EventHandle.pointing(at: self, loop, -1, 0)
    }

    /// Rings after so many milliseconds, and not at any time that was set before.
    /// - Returns: false when libevent has no memory for it.
    public func set(milliseconds: Int) -> Bool { event?.add(afterMilliseconds: max(milliseconds, 0)) ?? false }

    public override func ready(_ events: Int16) {
        loop.refreshNow()
        action()
    }

    /// Does not ring any more, and never will.
    public func cancel() {
        event?.remove()
        event = nil
        loop.deferRelease(self)
    }
}
