/// A periodic timer on a loop. For sweeps, not for single requests.
public final class Timer: EventSource {
    private var event: EventHandle?
    private let action: () -> Void

    /// - Throws: `SystemError` if libevent has no memory.
    public init(loop: Loop, everyMilliseconds interval: Int, _ action: @escaping () -> Void) throws(SystemError) {
        self.action = action
        super.init(loop: loop)
        var handle = try EventHandle.pointing(at: self, loop, -1, Flag.persist)
        guard handle.add(everyMilliseconds: interval) else { throw SystemError("event_add") }
        event = consume handle
    }

    public override func ready(_ events: Int16) { action() }

    public func cancel() {
        event?.remove()
        loop.deferRelease(self)
    }
}

/// Calls back on its loop when the process receives a signal.
public final class SignalSource: EventSource {
    private var event: EventHandle?
    private let action: () -> Void

    public init(loop: Loop, signal: Int32, _ action: @escaping () -> Void) throws(SystemError) {
        self.action = action
        super.init(loop: loop)
        var handle = try EventHandle.pointing(at: self, loop, signal, Flag.signal | Flag.persist)
        guard handle.add() else { throw SystemError("event_add") }
        event = consume handle
    }

    public override func ready(_ events: Int16) { action() }
}
