import EventLoop
import Glibc
import Journal
import Metrics
import Spill

/// Writes flows to disk on its own thread, so that neither the loops nor the journal's thread wait. If the disk fails, it logs a
/// line, queues flows while there is room, and retries.
final class JournalDisk: FlowDisk {
    typealias Query = @Sendable ((any FlowShelf)?) -> Void

    /// The state of the disk.
    private enum Stage {
        /// Not tried yet.
        case opening
        /// The disk has flows of an earlier run. Numbering must continue after these counters.
        case found(JournalCounters)
        /// Flows are accepted.
        case joined
        /// The file could not be opened.
        case failed
    }

    /// The task of the disk's thread.
    private enum Demand {
        case write
        /// Another process is about to use the file; flows are queued.
        case rest
        case end
    }

    private struct State {
        var stage = Stage.opening
        /// True if the file can be read.
        var isOpen = false
        var limits: JournalStore.DiskLimits
        var backlog: Backlog
        var queries: [Query] = []
        var demand = Demand.write
        var figures = ProcessFigures.DiskFigures()

        func hasWork(_ known: Demand) -> Bool { backlog.hasNews || !queries.isEmpty || demand != known }
    }

    /// Flows that are not written yet. Limited in total and per client.
    private struct Backlog {
        private(set) var flows: [PackedFlow] = []
        /// The counters after the last flow.
        private(set) var counters = JournalCounters()
        private(set) var secrets: [SealedSecrets.Sealed] = []
        /// True if the disk's thread has not seen the last flows.
        var hasNews = false
        private var bytes = 0
        /// The share of each client; nil while there is room for all.
        private var shares: FlowShares?
        private let limit: Int

        init(limit: Int) { self.limit = limit }

        /// - Returns: the number of flows that did not fit.
        mutating func add(
            _ flows: [PackedFlow], _ counters: JournalCounters, _ secrets: [SealedSecrets.Sealed]
        ) -> Int {
            let added = Self.bytes(flows, secrets)
            guard !FlowShares.hasRoomForAll(bytes + added, of: limit) else {
                append(flows, counters, secrets, added)
                return 0
            }
            var shares = self.shares ?? FlowShares(limit: limit) { self.flows.forEach($0) }
            var room = limit - bytes
            let left = flows.filter { shares.take($0, &room) }
            self.shares = shares
            guard !left.isEmpty else { return flows.count }
            let met = secrets.filter { secret in
                guard secret.sealed.count <= room else { return false }
                room -= secret.sealed.count
                return true
            }
            append(left, counters, met, limit - bytes - room)
            return flows.count - left.count
        }

        private mutating func append(
            _ flows: [PackedFlow], _ counters: JournalCounters, _ secrets: [SealedSecrets.Sealed], _ added: Int
        ) {
            self.flows += flows
            self.counters = counters
            self.secrets += secrets
            bytes += added
            hasNews = true
        }

        /// Removes flows that are written.
        mutating func remove(_ written: Backlog) {
            flows.removeFirst(written.flows.count)
            secrets.removeFirst(written.secrets.count)
            bytes -= written.bytes
            shares = nil
        }

        private static func bytes(_ flows: [PackedFlow], _ secrets: [SealedSecrets.Sealed]) -> Int {
            flows.reduce(0) { $0 + $1.count } + secrets.reduce(0) { $0 + $1.sealed.count }
        }
    }

    private let state: Locked<State>
    private let thread: SystemThread
    /// The largest number of queued queries.
    private static let mostQueries = 64
    /// In milliseconds. The longest wait for the disk, at the start of numbering and at the end.
    private static let timeout = 3_000

    /// - Parameters:
    ///   - room: the size of the queue in bytes. Flows that do not fit are lost and counted.
    ///   - found: called on the disk's thread if the disk has flows of an earlier run; `join` must follow.
    init(
        _ limits: JournalStore.DiskLimits, _ directory: StateDirectory, room: Int = 16 << 20,
        say: @escaping @Sendable (String) -> Void = { Console.error($0) },
        found: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let state = Locked(State(limits: limits, backlog: Backlog(limit: room)))
        self.state = state
        thread = try SystemThread(name: "journal disk") {
            var writer = Writer(state: state, place: DiskPlace(directory), say: say, found: found)
            writer.run()
        }
    }

    // MARK: input

    /// Waits for the counters of an earlier run. Never call it on a loop.
    /// - Returns: nil if the disk cannot be read so far.
    func awaitCounters() -> JournalCounters? {
        let counters = state.wait(milliseconds: Self.timeout) { state -> JournalCounters?? in
            switch state.stage {
            case .opening: nil
            case .found(let counters): .some(counters)
            case .joined, .failed: .some(nil)
            }
        }
        guard let counters else {
            // from now on, `found` is called when the file opens
            state.withLock { if case .opening = $0.stage { $0.stage = .failed } }
            return nil
        }
        return counters
    }

    /// Call it when flows have numbers after the found ones.
    func join() { state.signalAll { if case .found = $0.stage { $0.stage = .joined } } }

    /// - Parameters:
    ///   - counters: the counters after those flows.
    ///   - secrets: secrets that occurred first in those flows.
    func take(_ flows: [PackedFlow], _ counters: JournalCounters, _ secrets: [SealedSecrets.Sealed] = []) {
        guard !flows.isEmpty else { return }
        state.signalAll { state in
            guard case .joined = state.stage, state.demand != .end else {
                state.figures.lost += UInt64(flows.count)
                return
            }
            state.figures.lost += UInt64(state.backlog.add(flows, counters, secrets))
        }
    }

    func adopt(_ limits: JournalStore.DiskLimits) { state.signalAll { $0.limits = limits } }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    func ask(_ query: @escaping Query) -> Bool {
        var isTaken = false
        state.signalAll { state in
            guard state.queries.count < Self.mostQueries, state.demand != .end else { return }
            state.queries.append(query)
            isTaken = true
        }
        return isTaken
    }

    var figures: ProcessFigures.DiskFigures {
        state.withLock { state in
            var figures = state.figures
            figures.isOpen = state.isOpen
            return figures
        }
    }

    /// Releases the file for another process after writing pending flows. Returns at once.
    func rest() { state.signalAll { if $0.demand == .write { $0.demand = .rest } } }

    /// Continues after `rest` if the other process failed. If that process has written flows, it numbers after them.
    func goOn() { state.signalAll { if $0.demand == .rest { $0.demand = .write } } }

    /// Releases the file for good; use it instead of `close`.
    func leave() {
        state.signalAll { $0.demand = .end }
        thread.detach()
    }

    /// Writes pending flows and ends.
    func close() {
        state.signalAll { $0.demand = .end }
        if !thread.join(withinMilliseconds: Self.timeout) {
            Console.error("the last flows may be missing in the journal on disk: the disk is too slow")
        }
    }

    // MARK: thread

    private struct Work {
        var queries: [Query]
        var limits: JournalStore.DiskLimits
        var demand: Demand
    }

    private struct Writer: ~Copyable {
        let state: Locked<State>
        var place: DiskPlace
        let say: @Sendable (String) -> Void
        let found: @Sendable () -> Void
        var archive: FlowArchive?
        /// The time of the next retry, and the interval after it, in milliseconds.
        var retry: (at: Int, after: Int)?
        /// The time at which writing began to fail, and whether that was reported.
        var trouble: (since: Int, isSaid: Bool)?
        /// The last counters, once known.
        var known: JournalCounters?
        var demand = Demand.write

        /// The intervals of retries in milliseconds; they grow.
        private static let retries = (first: 250, last: 10_000)
        /// In milliseconds. Another process may use the file for this long before it is reported, because it may be about to end.
        private static let grace = 3_000
        /// The interval of removing old flows, in milliseconds.
        private static let interval = 30_000

        init(
            state: Locked<State>, place: consuming DiskPlace, say: @escaping @Sendable (String) -> Void,
            found: @escaping @Sendable () -> Void
        ) {
            self.state = state
            self.place = place
            self.say = say
            self.found = found
        }

        mutating func run() {
            open()
            var hasMore = true
            while true {
                let work = next(wait: hasMore ? 0 : archive == nil || retry != nil ? Self.retries.first : Self.interval)
                // one last attempt at the end
                if work.demand == .end, demand != .rest { retry = nil }
                if work.demand == .write { demand = .write }
                if archive == nil, isDue { open() }
                if isDue { write() }
                hasMore = isDue && retain(work.limits)
                answer(work.queries)
                if work.demand == .rest { rest() }
                tell()
                if work.demand == .end { break }
            }
            // the process that replaces this one does not have these flows
            var left = 0
            state.signalAll { state in
                state.isOpen = false
                left = state.backlog.flows.count
            }
            if left > 0, demand != .rest { say("\(left) flows are missing in the journal on disk") }
        }

        /// Releases the file after writing pending flows as far as possible.
        private mutating func rest() {
            demand = .rest
            archive = nil
            place.letGo()
        }

        private var isDue: Bool {
            demand != .rest && retry.map { Loop.monotonicMilliseconds() >= $0.at } ?? true
        }

        /// The next work, or nothing after the wait.
        private func next(wait: Int) -> Work {
            func take(_ state: inout State) -> Work {
                defer {
                    state.backlog.hasNews = false
                    state.queries = []
                }
                return Work(queries: state.queries, limits: state.limits, demand: state.demand)
            }
            let demand = demand
            let work = state.wait(milliseconds: wait) { $0.hasWork(demand) ? take(&$0) : nil }
            return work ?? state.withLock { take(&$0) }
        }

        private mutating func open() {
            do throws(DiskPlace.Fault) {
                let archive = try place.open(say)
                self.archive = archive
                try begin(archive)
            } catch {
                fail(error)
            }
        }

        private mutating func begin(_ archive: FlowArchive) throws(DiskPlace.Fault) {
            let counters: JournalCounters
            do throws(SQLiteFault) { counters = try archive.counters() } catch {
                throw .database(place.path, error)
            }
            guard known.map({ $0.merged(with: counters) != $0 }) ?? true else {
                // otherwise the next write shows whether the disk works again
                if state.withLock({ $0.backlog.flows.isEmpty }) { recover() }
                return
            }
            var isLate = known != nil
            known = counters
            state.signalAll { state in
                // another process has used the numbers of these flows
                state.figures.lost += UInt64(state.backlog.flows.count)
                state.backlog.remove(state.backlog)
                if case .failed = state.stage { isLate = true }
                state.stage = .found(counters)
                state.isOpen = true
            }
            recover()
            if isLate { found() }
        }

        private mutating func write() {
            let backlog = state.withLock { $0.backlog }
            guard let archive, !backlog.flows.isEmpty else { return }
            do throws(SQLiteFault) {
                try archive.append(backlog.flows, backlog.counters, secrets: backlog.secrets)
            } catch {
                return fail(.database(place.path, error))
            }
            known = backlog.counters
            state.withLock { state in
                state.backlog.remove(backlog)
                state.figures.written += UInt64(backlog.flows.count)
            }
            recover()
        }

        /// - Returns: whether there may be more to remove.
        private mutating func retain(_ limits: JournalStore.DiskLimits) -> Bool {
            guard let archive else { return false }
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            do throws(SQLiteFault) {
                return try archive.retain(limits, now: time.tv_sec * 1000 + time.tv_nsec / 1_000_000)
            } catch {
                fail(.database(place.path, error))
                return false
            }
        }

        private mutating func answer(_ queries: [Query]) {
            for query in queries { query(archive) }
            if let damage = archive?.damage { fail(.database(place.path, damage)) }
        }

        private func tell() {
            let figures = archive.flatMap { archive in (try? archive.size()).map { (archive.count, $0) } }
            state.withLock { state in
                state.isOpen = archive != nil
                state.figures.flows = UInt64(max(0, figures?.0 ?? 0))
                state.figures.bytes = UInt64(max(0, figures?.1 ?? 0))
            }
        }

        // MARK: failures

        private mutating func fail(_ fault: DiskPlace.Fault) {
            if case .database(_, let fault) = fault {
                // a full disk can still be read
                if !fault.isFull { archive = nil }
                if fault.isDamage { try? place.putAside(say) }
            }
            let now = Loop.monotonicMilliseconds()
            let after = min(retry.map { $0.after * 2 } ?? Self.retries.first, Self.retries.last)
            retry = (now + after, after)
            var told = trouble ?? (now, false)
            if !told.isSaid, !fault.isTaken || now - told.since >= Self.grace {
                say("the journal is only in memory for now: \(fault.description)")
                told.isSaid = true
            }
            trouble = told
            let isOpen = archive != nil
            state.signalAll { state in
                state.isOpen = isOpen
                // wait for another process that is about to end
                if case .opening = state.stage, told.isSaid { state.stage = .failed }
            }
        }

        private mutating func recover() {
            retry = nil
            if trouble?.isSaid == true { say("the journal is on disk again") }
            trouble = nil
        }
    }
}
