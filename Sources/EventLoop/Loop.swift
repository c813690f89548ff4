internal import CLibevent
internal import Glibc

/// One event loop. Lives and dies on one thread; nothing here is `Sendable`, so the compiler keeps it there.
public final class Loop {
    let base: OpaquePointer
    /// Where every channel of this loop reads into: idle connections own no buffer.
    public let scratch: UnsafeMutableRawBufferPointer
    /// Objects that were closed in this turn. They may still be on the call stack, so they die when it is over.
    private var deferred: [AnyObject] = []
    private var releasing: [AnyObject] = []
    /// Sources whose descriptor the kernel does not watch. They are told when the turn is over, never from inside the
    /// call that found out.
    private var refused: [EventSource] = []
    /// Sources that have more to tell than the kernel knows of.
    private var recalled: [EventSource] = []
    /// Channels whose other ends are on this loop, and have changed.
    private var changed: [Channel] = []
    private var telling: [Channel] = []
    /// Channels whose small writes of this turn wait to go out together.
    private var gathering: [Channel] = []
    /// Through which bytes go that nobody here has to see.
    var pipes = PipePool()
    private var isRunning = false
    /// What others may know of it while it is at work.
    public let pulse: LoopPulse
    /// Monotonic milliseconds, taken once a turn.
    public private(set) var now: Int

    #if DEBUG
        /// System calls of this loop that are to fail. Set before channels are made.
        public var faults = FaultPlan.ofProcess

        /// Counts a call that is made above this loop, and is about to be.
        /// - Returns: true when it is the one that fails.
        public func injectsFault(_ call: FaultPlan.Call) -> Bool { FaultPlan.injects(faults, call) }
    #endif

    public static let scratchSize = 64 << 10

    /// - Throws: `SystemError` when the kernel gives no event queue.
    public init(pulse: LoopPulse = LoopPulse()) throws(SystemError) {
        self.pulse = pulse
        guard let configuration = event_config_new() else { throw SystemError("event_config_new") }
        defer { event_config_free(configuration) }
        // NOLOCK: no other thread ever touches this base; mailboxes wake it through a descriptor of their own
        event_config_set_flag(configuration, 0x01)
        guard let base = event_base_new_with_config(configuration) else { throw SystemError("event_base_new") }
        self.base = base
        scratch = .allocate(byteCount: Loop.scratchSize, alignment: 64)
        now = Loop.monotonicMilliseconds()
    }

    deinit {
        event_base_free(base)
        scratch.deallocate()
    }

    /// Runs until `stop`, or until there is nothing left to wait for.
    public func run() {
        isRunning = true
        while isRunning, turn() {}
        isRunning = false
    }

    /// Waits for readiness once and handles it.
    /// - Returns: false when there is nothing to wait for, or the kernel's queue is broken.
    @discardableResult
    public func turn() -> Bool {
        // where channels are to be told something the kernel is asked, but not waited for: however busy two of them keep each other,
        // the sockets have their turn
        let code = event_base_loop(base, changed.isEmpty ? 0x01 : 0x02)
        if !changed.isEmpty { tellChanged() }
        // each may lead to the others, and none of them waits for an event
        while true {
            if let source = refused.popLast() {
                source.ready(EventSource.Flag.refused)
            } else if let source = recalled.popLast() {
                source.ready(EventSource.Flag.read)
            } else if let channel = gathering.popLast() {
                channel.turnEnds()
            } else {
                break
            }
        }
        if !deferred.isEmpty { release() }
        pulse.rest()
        return code == 0 || code == 1 && !changed.isEmpty
    }

    private func tellChanged() {
        // what changes meanwhile is told of in the next turn
        swap(&changed, &telling)
        for channel in telling { channel.tellOfOtherEnd() }
        telling.removeAll(keepingCapacity: true)
    }

    /// Has the source told that its descriptor is not watched.
    func refuse(_ source: EventSource) { refused.append(source) }

    /// Has the source told that it is readable, whatever the kernel says.
    func recall(_ source: EventSource) { recalled.append(source) }

    /// Has the channel told that its other end has changed.
    func tell(_ channel: Channel) { changed.append(channel) }

    /// Has the channel told when the turn is over.
    public func tellAtEnd(_ channel: Channel) { gathering.append(channel) }

    public func stop() {
        isRunning = false
        event_base_loopbreak(base)
    }

    /// Keeps a closed object until the turn is over.
    public func deferRelease(_ object: AnyObject) { deferred.append(object) }

    /// Releases what was closed since the last turn, or was to be told something in the next one. For when no further turn comes: the
    /// loop and these objects would hold each other.
    public func releaseClosed() {
        while !deferred.isEmpty || !changed.isEmpty {
            changed = []
            release()
        }
    }

    private func release() {
        // what is released may defer something else: that finds its place in the other array
        swap(&deferred, &releasing)
        releasing.removeAll(keepingCapacity: true)
    }

    /// Gives up pipes that have been idle since this was asked last.
    public func trimPipes() { pipes.trim() }

    /// Part of what was read last. Valid until the next read on this loop.
    public func received(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: UnsafeRawBufferPointer(scratch).bindMemory(to: UInt8.self)[range])
    }

    /// Takes the time anew; channels call it when they become ready.
    @discardableResult
    public func refreshNow() -> Int {
        now = Loop.monotonicMilliseconds()
        return now
    }

    public static func monotonicMilliseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// libevent's version and the way it waits, `2.1.12-stable`, `epoll`.
    public static var libraryVersion: String { String(cString: event_get_version()) }
}
