import EventLoop
import ProxyCore

/// Calls that no client waits for: AM is told of sessions and tokens that nobody has use for any more. Each is made like a
/// filter's call, by a connection at whose other end nobody is.
final class Errands {
    private final class Run {
        let errand: Errand
        let connection: Connection
        let until: Int
        var isReported = false

        init(_ errand: Errand, _ connection: Connection, until: Int) {
            self.errand = errand
            self.connection = connection
            self.until = until
        }
    }

    /// Those of all loops.
    private let table: ErrandTable
    private let sessions: SessionTable
    private let tokens: TokenTable
    /// By which this loop is told that there are some.
    private let port: ErrandTable.Port
    /// It serves nobody any more, and the others know.
    private var hasLeft = false
    private var runs: [Run] = []
    private var waiting: [Errand] = []
    /// When all of them have to be over; the end of the loop waits no longer.
    private var end = Int.max
    private var timer: Timer?
    /// What is left undone, and why.
    private var failures: [String: Int] = [:]
    private var nextWarning = 0

    /// So many at a time; nobody waits for them.
    private static let most = 16
    /// Milliseconds that each may take.
    private static let limit = 2_000
    /// Milliseconds that all of them may take at the end.
    private static let longestEnd = 5_000
    /// At the end they follow one another in this time.
    private static let interval = 5
    private static let warningInterval = 10_000

    init(_ tables: SharedTables, _ port: ErrandTable.Port) {
        table = tables.errands
        sessions = tables.sessions
        tokens = tables.tokens
        self.port = port
    }

    var isEmpty: Bool { runs.isEmpty && waiting.isEmpty }

    /// Of connections, once the loop is over.
    func letGo() { runs = [] }

    func enter() { table.enter(port) }

    /// Does what waits, of whatever loop.
    func take(_ worker: Worker) { add(table.take(), worker) }

    /// This loop serves nobody any more. The last one has AM told of whatever nobody has use for from here on.
    /// - Parameter limit: when all of it should be over.
    func leave(by limit: Int, _ worker: Worker) {
        guard !hasLeft else { return }
        hasLeft = true
        guard table.leave(port) else { return }
        sessions.keep(loginsOf: [])
        finish(table.take() + tokens.takeRevocations(by: worker.settings.engine.settings.tokens), by: limit, worker)
    }

    private func add(_ errands: [Errand], _ worker: Worker) {
        waiting += errands
        begin(worker)
    }

    /// The loop ends with the last of them: they have what a drain has left, 2 s at least and 5 s at most.
    private func finish(_ errands: [Errand], by limit: Int, _ worker: Worker) {
        let now = worker.loop.refreshNow()
        end = min(max(limit, now + Self.limit), now + Self.longestEnd)
        if !errands.isEmpty {
            timer = try? Timer(loop: worker.loop, everyMilliseconds: Self.interval) { [unowned worker] in
                worker.sweepErrands()
            }
        }
        add(errands, worker)
        tell(worker, now)
    }

    private func begin(_ worker: Worker) {
        while runs.count < Self.most, let errand = waiting.popLast() {
            let connection = worker.connectToNobody()
            let run = Run(errand, connection, until: min(worker.loop.now + Self.limit, end))
            runs.append(run)
            connection.run(errand) { [weak self, weak run] reason in
                run?.isReported = true
                if let reason { self?.fail(errand, reason) }
            }
        }
    }

    private func fail(_ errand: Errand, _ reason: String) { failures["\(errand.remains): \(reason)", default: 0] += 1 }

    /// Ends what is over, or takes too long.
    func sweep(_ worker: Worker) {
        if isEmpty, failures.isEmpty { return }
        let now = worker.loop.now
        for run in runs where !run.connection.isClosed {
            if run.connection.machine.isIdle { run.connection.client.closeGracefully(.close) }
            if now >= run.until { run.connection.cut() }
        }
        for run in runs where run.connection.isClosed && !run.isReported { fail(run.errand, "AM takes too long") }
        runs.removeAll { $0.connection.isClosed }
        if now >= end {
            for errand in waiting { fail(errand, "there was no time left") }
            waiting = []
        }
        begin(worker)
        tell(worker, now)
    }

    /// One line for all that failed meanwhile.
    private func tell(_ worker: Worker, _ now: Int) {
        guard !failures.isEmpty, end == .max ? now >= nextWarning : isEmpty else { return }
        nextWarning = now + Self.warningInterval
        let words = failures.sorted { $0.key < $1.key }.map { $0.value > 1 ? "\($0.key) (\($0.value) times)" : $0.key }
        failures = [:]
        worker.report.warn(words.joined(separator: "; "))
    }

    func owns(_ connection: Connection) -> Bool { runs.contains { $0.connection === connection } }
}
