internal import CLibevent
internal import Glibc

/// An event loop, confined to one thread. Nothing here is `Sendable`, so the compiler enforces that.
public final class Loop {
    let base: OpaquePointer
    /// The buffer into which all channels of this loop read. Idle connections own no buffer.
    public let scratch: UnsafeMutableRawBufferPointer
    /// Objects closed in this turn. They may still be on the call stack, so they are released when it ends.
    private var deferred: [AnyObject] = []
    private var releasing: [AnyObject] = []
    /// Sources whose descriptor the kernel refused to watch. They are notified at the end of the turn, never from inside
    /// the failing call.
    private var refused: [EventSource] = []
    /// Sources with more to report than the kernel knows.
    private var recalled: [EventSource] = []
    /// Channels whose other end on this loop has changed.
    private var changed: [Channel] = []
    private var telling: [Channel] = []
    /// Channels whose small writes of this turn are sent together.
    private var gathering: [Channel] = []
    /// Pipes for bytes that are relayed unread.
    var pipes = PipePool()
    private var isRunning = false
    /// State of the loop that other threads may read.
    public let pulse: LoopPulse
    /// Monotonic milliseconds, read once a turn.
    public private(set) var now: Int

    #if DEBUG
        /// Planned failures of this loop's system calls. Set it before channels are created.
        public var faults = FaultPlan.ofProcess

        /// Counts a call of a higher layer that is about to be made.
        /// - Returns: true if it must fail.
        public func injectsFault(_ call: FaultPlan.Call) -> Bool { FaultPlan.injects(faults, call) }
    #endif

    public static let scratchSize = 64 << 10

    /// - Throws: `SystemError` if the kernel provides no event queue.
    public init(pulse: LoopPulse = LoopPulse()) throws(SystemError) {
        self.pulse = pulse
        guard let configuration = event_config_new() else { throw SystemError("event_config_new") }
        defer { event_config_free(configuration) }
        // NOLOCK: only one thread uses this base; mailboxes wake it by a descriptor of their own
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

    /// Runs until `stop`, or until nothing is left to wait for.
    public func run() {
        isRunning = true
        while isRunning, turn() {}
        isRunning = false
    }

    /// Waits once for readiness and handles it.
    /// - Returns: false if there is nothing to wait for, or the kernel's queue is broken.
    @discardableResult
    public func turn() -> Bool {
        // does not block if channels have pending reports: two busy ends must not starve the sockets
        let code = event_base_loop(base, changed.isEmpty ? 0x01 : 0x02)
        if !changed.isEmpty { tellChanged() }
        // each step may cause the others, and none of them comes with an event
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
        // further changes are reported in the next turn
        swap(&changed, &telling)
        for channel in telling { channel.tellOfOtherEnd() }
        telling.removeAll(keepingCapacity: true)
    }

    /// Schedules the report that a source's descriptor is not watched.
    func refuse(_ source: EventSource) { refused.append(source) }

    /// Schedules a call of `readable`, whatever the kernel reports.
    func recall(_ source: EventSource) { recalled.append(source) }

    /// Schedules the report that a channel's other end has changed.
    func tell(_ channel: Channel) { changed.append(channel) }

    /// Schedules a call of `turnEnds`.
    public func tellAtEnd(_ channel: Channel) { gathering.append(channel) }

    public func stop() {
        isRunning = false
        event_base_loopbreak(base)
    }

    /// Keeps a closed object alive until the end of the turn.
    public func deferRelease(_ object: AnyObject) { deferred.append(object) }

    /// Releases closed objects and pending reports when no further turn comes. Otherwise the loop and these objects would
    /// retain each other.
    public func releaseClosed() {
        while !deferred.isEmpty || !changed.isEmpty {
            changed = []
            release()
        }
    }

    private func release() {
        // releasing an object may defer others, which go into the other array
        swap(&deferred, &releasing)
        releasing.removeAll(keepingCapacity: true)
    }

    /// Closes pipes that were idle since the last call.
    public func trimPipes() { pipes.trim() }

    /// A part of the last read. Valid until the next read on this loop.
    public func received(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: UnsafeRawBufferPointer(scratch).bindMemory(to: UInt8.self)[range])
    }

    /// Reads the clock again; channels call it when they become ready.
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

    /// The version of libevent and its method, such as `2.1.12-stable` and `epoll`.
    public static var libraryVersion: String { String(cString: event_get_version()) }
}
