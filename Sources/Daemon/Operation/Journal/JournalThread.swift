import EventLoop
import Glibc
import Journal
import Metrics
import Observation
import TLSEngine

/// Runs the journal on its own thread. Loops hand flows over without waiting; queries run in between.
final class JournalThread: FlowIntake {
    typealias Query = @Sendable (inout JournalStore) -> Void

    private struct Queue {
        var backlog = FlowBacklog()
        var queries: [Query] = []
        var followers: [Int: Follower] = [:]
        var nextFollower = 1
        var waits = FlowWaits<Query>()
        var closing = false
        /// Nil if flows are kept in memory only.
        var disk: JournalDisk?
        var settings: JournalStore.Settings
        /// The figures of stored flows.
        var figures = ProcessFigures.JournalFigures()

        var hasWork: Bool { !backlog.isEmpty || !queries.isEmpty || closing }
    }

    /// Receives stored flows on the journal's thread; it must not block.
    typealias Follower = @Sendable ([PackedFlow]) -> Void

    private let queue: Locked<Queue>
    private let directory: StateDirectory
    /// The secrets that the configuration stores.
    private let sealed = SealedSecrets()
    private let thread: SystemThread
    /// The largest number of queued queries.
    private static let mostQueries = 64
    /// The longest wait at the end, in milliseconds.
    private static let timeout = 4_000

    /// - Parameters:
    ///   - directory: the location of the disk journal, if the settings enable it.
    ///   - key: the key for sealing secrets, if the settings store them.
    init(
        _ settings: JournalStore.Settings, _ directory: StateDirectory, key: SecretBytes?
    ) throws(SystemError) {
        let queue = Locked(Queue(settings: settings))
        self.queue = queue
        self.directory = directory
        let disk = try settings.disk.map { limits throws(SystemError) in
            try Self.disk(limits, directory, queue)
        }
        queue.withLock { $0.disk = disk }
        let sealed = sealed
        Self.adopt(settings, key, sealed)
        thread = try SystemThread(name: "journal") { Self.run(queue, settings, sealed) }
    }

    /// Secrets may use an eighth of the journal's budget.
    private static func adopt(_ settings: JournalStore.Settings, _ key: SecretBytes?, _ sealed: SealedSecrets) {
        sealed.adopt(settings.reveals ? key : nil, budget: settings.memory / 8)
    }

    private static func disk(
        _ limits: JournalStore.DiskLimits, _ directory: StateDirectory, _ queue: Locked<Queue>
    ) throws(SystemError) -> JournalDisk {
        try JournalDisk(limits, directory) { queue.signal { $0.queries.append { Self.join(&$0, queue) } } }
    }

    /// Continues the numbers of flows and aliases after those on disk, and stores flows there from now on.
    private static func join(_ store: inout JournalStore, _ queue: Locked<Queue>) {
        let (disk, settings) = queue.withLock { ($0.disk, $0.settings) }
        guard let disk, let found = disk.awaitCounters() else { return }
        store.begin(settings, behind: found)
        disk.join()
    }

    private static func run(_ queue: Locked<Queue>, _ settings: JournalStore.Settings, _ sealed: SealedSecrets) {
        var store = JournalStore(settings) { ($0.kind.rawValue, $0.sentence) }
        join(&store, queue)
        var waiting: ArraySlice<FlowBatch> = []
        var offset = clockOffset()
        while true {
            let isIdle = waiting.isEmpty
            let work = queue.wait { queue -> Queue? in
                guard queue.hasWork || !isIdle else { return nil }
                defer {
                    if isIdle { queue.backlog.clear() }
                    queue.queries = []
                }
                return queue
            }
            if isIdle { waiting = work.backlog.batches[...] }
            let now = clockOffset()
            // each clock is truncated to milliseconds on its own, so small differences are ignored: a flow must not begin before
            // an earlier one
            if abs(now - offset) > 2 { offset = now }
            var taken = 0
            let end = store.steps + stepsOfTurn
            // limits the wait of queries, however much there is
            while store.steps < end || work.closing, !waiting.isEmpty {
                let kept = store.take(
                    &waiting[waiting.startIndex], offset: offset, until: work.closing ? .max : end)
                if waiting[waiting.startIndex].left == 0 { waiting.removeFirst() }
                taken += kept.count
                let secrets = sealed.keep(store.takeSecrets())
                work.disk?.take(kept, store.counters, secrets)
                for follower in work.followers.values { follower(kept) }
                if work.waits.count > 0 {
                    let told = queue.withLock { $0.waits.take(kept, now: Loop.monotonicMilliseconds()) }
                    for query in told { query(&store) }
                }
            }
            for query in work.queries { query(&store) }
            queue.withLock { queue in
                queue.figures.flows = UInt64(max(0, store.ring.count))
                queue.figures.bytes = UInt64(max(0, store.ring.bytes))
                queue.figures.taken += UInt64(max(0, taken))
            }
            if work.closing, isIdle { return }
        }
    }

    /// The steps between two checks for queries: some tens of milliseconds, plus the last flow begun.
    private static let stepsOfTurn = 4 << 20

    /// The difference in milliseconds between the loops' clock and the time since 1970.
    private static func clockOffset() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000 - Loop.monotonicMilliseconds()
    }

    // MARK: input

    func take(_ batch: FlowBatch) { queue.signal { $0.backlog.add(batch) } }

    /// The number of flows lost because they arrived faster than they could be stored.
    var lost: Int { queue.withLock { $0.backlog.lost } }

    var figures: ProcessFigures.JournalFigures {
        queue.withLock { queue in
            var figures = queue.figures
            figures.lost = UInt64(max(0, queue.backlog.lost))
            figures.disk = queue.disk?.figures
            return figures
        }
    }

    /// Applies a new generation of the configuration.
    func adopt(_ settings: JournalStore.Settings, key: SecretBytes?) throws(SystemError) {
        let queue = queue
        Self.adopt(settings, key, sealed)
        let old = queue.withLock { $0.disk }
        let disk: JournalDisk?
        if let limits = settings.disk {
            old?.adopt(limits)
            disk = if let old { old } else { try Self.disk(limits, directory, queue) }
        } else {
            disk = nil
            old?.leave()
        }
        let isNew = old == nil && disk != nil
        queue.signal { state in
            (state.settings, state.disk) = (settings, disk)
            state.queries.append { $0.adopt(settings) }
            if isNew { state.queries.append { Self.join(&$0, queue) } }
        }
    }

    /// Redacts these values, and no longer those of earlier calls, in flows that come after the call.
    func learn(_ secrets: [[UInt8]]) { queue.signal { $0.queries.append { $0.learn(secrets) } } }

    /// Restores secrets.
    var secrets: SecretSource { { [sealed] in sealed.secret($0, $1) } }

    /// The flows on disk.
    var disk: (any FlowDisk)? { queue.withLock { $0.disk } }

    /// Releases the disk for another process. Later flows stay in memory, until `goOn`.
    func leaveDisk() { queue.withLock { $0.disk }?.rest() }

    /// Continues on disk if the other process failed.
    func goOn() { queue.withLock { $0.disk }?.goOn() }

    // MARK: queries

    /// Runs a query on the journal's thread, after the flows that arrived before it unless that takes long.
    /// - Returns: false if too many queries are queued.
    func ask(_ query: @escaping Query) -> Bool {
        var isTaken = true
        queue.signal { queue in
            guard queue.queries.count < Self.mostQueries else {
                isTaken = false
                return
            }
            queue.queries.append(query)
        }
        return isTaken
    }

    /// Runs a query once the filter accepts enough stored flows, but not after the deadline.
    /// - Parameters:
    ///   - after: counts only flows after this one.
    ///   - isWanted: false once the result is no longer needed.
    /// - Returns: false if too many queries wait.
    func wait(
        for count: Int, of filter: FlowFilter, after: Int, until time: Int, isWanted: @escaping @Sendable () -> Bool,
        _ query: @escaping Query
    ) -> Bool {
        let queue = queue
        return ask { store in
            let found = FlowQuery(filter, .oldestFirst(after: after), limit: count).run(store.ring).flows.count
            guard found < count else { return query(&store) }
            queue.withLock {
                $0.waits.add(
                    filter, missing: count - found, until: time, isWanted: isWanted, now: Loop.monotonicMilliseconds(),
                    query)
            }
        }
    }

    /// Passes flows stored from now on to a follower.
    /// - Returns: the number for `unfollow`.
    func follow(_ follower: @escaping Follower) -> Int {
        queue.withLock { queue in
            defer { queue.nextFollower += 1 }
            queue.followers[queue.nextFollower] = follower
            return queue.nextFollower
        }
    }

    func unfollow(_ number: Int) { queue.withLock { $0.followers[number] = nil } }

    /// Stores queued flows and ends.
    func close() {
        queue.signal { queue in
            queue.closing = true
            // nothing can ask for these flows any more
            if queue.disk == nil { queue.backlog.clear() }
        }
        let disk = queue.withLock { $0.disk }
        if !thread.join(withinMilliseconds: Self.timeout), disk != nil {
            Console.error(
                "the last flows may be missing in the journal on disk: the search for secrets took too long")
        }
        disk?.close()
    }
}
