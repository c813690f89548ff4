internal import CLibevent

/// What libevent points at. Subclasses say what readiness means.
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
    }
}

/// One `struct event` (event2/event.h), freed with this value. It points at its source without owning it, so the source
/// must hold this value and outlive every callback: the loop's graveyard sees to that.
struct EventHandle: ~Copyable {
    private let event: OpaquePointer
    private(set) var isAdded = false

    /// - Throws: `SystemError` when libevent has no memory for it.
    init(_ loop: Loop, _ descriptor: Int32, _ flags: Int16, _ source: EventSource) throws(SystemError) {
        let context = Unmanaged.passUnretained(source).toOpaque()
        guard let event = event_new(loop.base, descriptor, flags, eventSourceTrampoline, context) else {
            throw SystemError("event_new")
        }
        self.event = event
    }

    deinit { event_free(event) }

    mutating func add() {
        guard !isAdded else { return }
        event_add(event, nil)
        isAdded = true
    }

    mutating func add(everyMilliseconds interval: Int) {
        var time = usher_timeval(tv_sec: interval / 1000, tv_usec: interval % 1000 * 1000)
        event_add(event, &time)
        isAdded = true
    }

    mutating func remove() {
        guard isAdded else { return }
        event_del(event)
        isAdded = false
    }
}
