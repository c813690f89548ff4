internal import CLibevent

// The functions that libevent calls. They capture and retain nothing: the loop's registries hold the objects, and closed
// ones stay alive until the end of the turn.

func eventSourceTrampoline(_ descriptor: Int32, _ events: Int16, _ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<EventSource>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.loop.pulse.begin($0)
        $0.ready(events)
    }
}
