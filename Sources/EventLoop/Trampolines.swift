internal import CLibevent

// libevent calls these two. They capture nothing and take no reference: the loop's registries hold the objects, and the
// loop keeps whatever is closed alive until the turn is over.

func eventSourceTrampoline(_ descriptor: Int32, _ events: Int16, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<EventSource>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.loop.pulse.begin($0)
        $0.ready(events)
    }
}
