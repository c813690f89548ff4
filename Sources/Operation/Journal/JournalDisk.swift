import EventLoop
import Glibc
import Journal
import Metrics
import Spill

/// Keeps flows on the disk, on a thread of its own: neither loops nor the journal's thread wait for it. Where the disk does not
/// take them, a line says so, they wait as far as there is room, and it is tried again.
final class JournalDisk: FlowDisk {
    typealias Query = @Sendable ((any FlowShelf)?) -> Void

    /// What the disk is good for.
    private enum Stage {
        /// It was not tried yet.
        case opening
        /// Flows of an earlier run have numbers up to these; who numbers flows has to know them first.
        case found(JournalCounters)
        /// Flows are taken.
        case joined
        /// It was never open.
        case failed
    }

    /// What the disk's thread is to do.
    private enum Demand {
        case write
        /// Another process is about to keep its own there: what comes waits.
        case rest
        case end
    }

    private struct State {
        var stage = Stage.opening
        /// The file can be read.
        var isOpen = false
        var limits: JournalStore.DiskLimits
        var backlog: Backlog
        var queries: [Query] = []
        var demand = Demand.write
        var figures = ProcessFigures.DiskFigures()

        func hasWork(_ known: Demand) -> Bool { backlog.hasNews || !queries.isEmpty || demand != known }
    }

    /// Flows that are not written yet, within a bound, and each client's within its share.
    private struct Backlog {
        private(set) var flows: [PackedFlow] = []
        /// By the last of them.
        private(set) var counters = JournalCounters()
        private(set) var secrets: [SealedSecrets.Sealed] = []
        /// The disk's thread has not looked at the last of them.
        var hasNews = false
        private var bytes = 0
        /// How much of it is each client's; nil as long as there is room for all.
        private var shares: FlowShares?
        private let limit: Int

        init(limit: Int) { self.limit = limit }

        /// - Returns: how many flows there was no room for.
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

        /// The first ones are written.
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
    /// Queries that may wait.
    private static let mostQueries = 64
    /// How long whoever numbers flows waits for the disk, and how long the end does, in milliseconds.
    private static let timeout = 3_000

    /// - Parameters:
    ///   - room: bytes that may wait; more is lost, and counted.
    ///   - found: is told of flows of an earlier run, on the disk's thread; `join` has to follow.
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

    // MARK: what comes

    /// What flows of an earlier run were given; waits until that is known. Never on a loop.
    /// - Returns: nil where the disk cannot be read so far.
    func awaitCounters() -> JournalCounters? {
        let counters = state.wait(milliseconds: Self.timeout) { state -> JournalCounters?? in
            switch state.stage {
            case .opening: nil
            case .found(let counters): .some(counters)
            case .joined, .failed: .some(nil)
            }
        }
        guard let counters else {
            // from here on it is told when it opens
            state.withLock { if case .opening = $0.stage { $0.stage = .failed } }
            return nil
        }
        return counters
    }

    /// From here on flows have numbers behind those that were found.
    func join() { state.signalAll { if case .found = $0.stage { $0.stage = .joined } } }

    /// - Parameters:
    ///   - counters: what was given last, behind those flows.
    ///   - secrets: those that were met first in them.
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

    /// Lets another process keep its own there, once what has come is written. Returns at once.
    func rest() { state.signalAll { if $0.demand == .write { $0.demand = .rest } } }

    /// The other process does not. Flows go on as if nothing had been, unless it has written some by then.
    func goOn() { state.signalAll { if $0.demand == .rest { $0.demand = .write } } }

    /// The same as `rest`, for good; instead of `close`.
    func leave() {
        state.signalAll { $0.demand = .end }
        thread.detach()
    }

    /// Writes what is left and ends.
    func close() {
        state.signalAll { $0.demand = .end }
        if !thread.join(withinMilliseconds: Self.timeout) {
            Console.error("what came last may not be in the journal on the disk: the disk takes too long")
        }
    }

    // MARK: the thread

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
        /// When it is tried again, and after how long the next time, in milliseconds.
        var retry: (at: Int, after: Int)?
        /// Since when it does not take flows, and whether that was said.
        var trouble: (since: Int, isSaid: Bool)?
        /// What was given last, once that is known.
        var known: JournalCounters?
        var demand = Demand.write

        /// Milliseconds until what failed is tried again: longer each time.
        private static let retries = (first: 250, last: 10_000)
        /// How long another process may keep the place before that is said: it may be about to end.
        private static let grace = 3_000
        /// How often it is looked for what is too old, in milliseconds.
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
                // tried once more at the end, whenever the last time was
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
            // what came last is in the memory of a process that another one follows
            var left = 0
            state.signalAll { state in
                state.isOpen = false
                left = state.backlog.flows.count
            }
            if left > 0, demand != .rest { say("\(left) flows are not in the journal on the disk") }
        }

        /// What has come is written, as far as that was possible.
        private mutating func rest() {
            demand = .rest
            archive = nil
            place.letGo()
        }

        private var isDue: Bool {
            demand != .rest && retry.map { Loop.monotonicMilliseconds() >= $0.at } ?? true
        }

        /// What came, or nothing by then.
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
                // else what is left tells whether it is over
                if state.withLock({ $0.backlog.flows.isEmpty }) { recover() }
                return
            }
            var isLate = known != nil
            known = counters
            state.signalAll { state in
                // another process has given their numbers, too
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

        // MARK: trouble

        private mutating func fail(_ fault: DiskPlace.Fault) {
            if case .database(_, let fault) = fault {
                // where there is no room, what is there can be read all the same
                if !fault.isFull { archive = nil }
                if fault.isDamage { try? place.putAside(say) }
            }
            let now = Loop.monotonicMilliseconds()
            let after = min(retry.map { $0.after * 2 } ?? Self.retries.first, Self.retries.last)
            retry = (now + after, after)
            var told = trouble ?? (now, false)
            if !told.isSaid, !fault.isTaken || now - told.since >= Self.grace {
                say("the journal is kept in memory alone for now: \(fault.description)")
                told.isSaid = true
            }
            trouble = told
            let isOpen = archive != nil
            state.signalAll { state in
                state.isOpen = isOpen
                // another process that is about to end is waited for
                if case .opening = state.stage, told.isSaid { state.stage = .failed }
            }
        }

        private mutating func recover() {
            retry = nil
            if trouble?.isSaid == true { say("the journal is on the disk again") }
            trouble = nil
        }
    }
}
