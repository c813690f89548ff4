internal import CLibevent

/// The target of libevent's callbacks. Subclasses handle readiness.
open class EventSource {
    public let loop: Loop

    public init(loop: Loop) { self.loop = loop }

    /// Called on the loop's thread with libevent's flags.
    open func ready(_ events: Int16) {}

    public enum Flag {
        public static let timeout: Int16 = 0x01
        public static let read: Int16 = 0x02
        public static let write: Int16 = 0x04
        public static let signal: Int16 = 0x08
        public static let persist: Int16 = 0x10
        /// The loop's own flag: the kernel refused to watch the descriptor. Reported at the end of the turn.
        static let refused: Int16 = 0x4000
    }
}

/// A `struct event` (event2/event.h), freed with this value. It refers to its source without owning it. The source must
/// hold this value and outlive all callbacks, which the loop's deferred release ensures.
public struct EventHandle: ~Copyable {
    /// Nil if there is nothing to watch.
    private let event: OpaquePointer?
    public private(set) var isAdded = false
    #if DEBUG
        private let faults: FaultPlan?
    #endif

    /// Creates an event without a source, so that an object can create one in its initializer.
    /// - Throws: `SystemError` if libevent has no memory.
    init(_ loop: Loop, _ descriptor: Int32, _ flags: Int16) throws(SystemError) {
        guard let event = event_new(loop.base, descriptor, flags, eventSourceTrampoline, nil) else {
            throw SystemError("event_new")
        }
        self.event = event
        #if DEBUG
            faults = loop.faults
        #endif
    }

    /// Creates an event that never fires and only records whether it was added.
    init() {
        event = nil
        #if DEBUG
            faults = nil
        #endif
    }

    deinit { if let event { event_free(event) } }

    public static func pointing(
        at source: EventSource, _ loop: Loop, _ descriptor: Int32, _ flags: Int16
    ) throws(SystemError) -> EventHandle {
        let handle = try EventHandle(loop, descriptor, flags)
        handle.point(at: source, loop, descriptor, flags)
        return handle
    }

    /// Sets the source, before the event is added for the first time.
    func point(at source: EventSource, _ loop: Loop, _ descriptor: Int32, _ flags: Int16) {
        guard let event else { return }
        let context = Unmanaged.passUnretained(source).toOpaque()
        event_assign(event, loop.base, descriptor, flags, eventSourceTrampoline, context)
    }

    /// - Returns: false if the kernel does not watch the descriptor; `errno` gives the reason.
    public mutating func add() -> Bool {
        if !isAdded { isAdded = enqueue(nil) }
        return isAdded
    }

    /// Adds the event to fire once. For an added event, the new time counts.
    mutating func add(afterMilliseconds interval: Int) -> Bool { add(everyMilliseconds: interval) }

    /// Adds the event; a persistent one fires repeatedly.
    mutating func add(everyMilliseconds interval: Int) -> Bool {
        var time = usher_timeval(tv_sec: interval / 1000, tv_usec: interval % 1000 * 1000)
        isAdded = enqueue(&time)
        return isAdded
    }

    private func enqueue(_ time: UnsafePointer<usher_timeval>?) -> Bool {
        #if DEBUG
            if FaultPlan.injects(faults, .eventAdd) { return false }
        #endif
        return event.map { event_add($0, time) == 0 } ?? true
    }

    public mutating func remove() {
        guard isAdded else { return }
        if let event { event_del(event) }
        isAdded = false
    }
}
