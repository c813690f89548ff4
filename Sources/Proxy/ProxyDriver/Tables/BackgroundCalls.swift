import EventLoop
import ProxyCore

/// Calls to AM without a client: they end sessions and revoke unused tokens. Each runs like a filter's call, on a connection
/// without a client.
final class BackgroundCalls {
    private final class Run {
        let backgroundCall: BackgroundCall
        let connection: Connection
        let until: Int
        var isReported = false

        init(_ backgroundCall: BackgroundCall, _ connection: Connection, until: Int) {
            self.backgroundCall = backgroundCall
            self.connection = connection
            self.until = until
        }
    }

    /// The background calls of all loops.
    private let table: BackgroundCallTable
    private let sessions: SessionTable
    private let tokens: TokenTable
    /// The mailbox that notifies this loop of background calls.
    private let port: BackgroundCallTable.Port
    /// The loop no longer serves, and has left the table.
    private var hasLeft = false
    private var runs: [Run] = []
    private var waiting: [BackgroundCall] = []
    /// The time at which all background calls must be over; the loop's end waits no longer.
    private var end = Int.max
    private var timer: Timer?
    /// The numbers of failed background calls by reason.
    private var failures: [String: Int] = [:]
    private var nextWarning = 0

    /// The most background calls at a time.
    private static let most = 16
    /// Milliseconds that one background call may take.
    private static let limit = 2_000
    /// Milliseconds that all background calls together may take at the loop's end.
    private static let longestEnd = 5_000
    /// Milliseconds between two sweeps at the loop's end.
    private static let interval = 5
    private static let warningInterval = 10_000

    init(_ tables: SharedTables, _ port: BackgroundCallTable.Port) {
        table = tables.backgroundCalls
        sessions = tables.sessions
        tokens = tables.tokens
        self.port = port
    }

    var isEmpty: Bool { runs.isEmpty && waiting.isEmpty }

    /// Releases the connections, once the loop is over.
    func letGo() { runs = [] }

    func enter() { table.enter(port) }

    /// Runs the waiting background calls of all loops.
    func take(_ worker: Worker) { add(table.take(), worker) }

    /// Ends this loop's service. The last loop asks AM to end the sessions and revoke the tokens that are not needed any more.
    /// - Parameter limit: the time at which all should be over.
    func leave(by limit: Int, _ worker: Worker) {
        guard !hasLeft else { return }
        hasLeft = true
        guard table.leave(port) else { return }
        sessions.keep(loginsOf: [])
        finish(table.take() + tokens.takeRevocations(by: worker.settings.engine.settings.tokens), by: limit, worker)
    }

    private func add(_ backgroundCalls: [BackgroundCall], _ worker: Worker) {
        waiting += backgroundCalls
        start(worker)
    }

    /// Runs the last background calls before the loop ends, in the rest of the drain, but for at least 2 s and at most 5 s.
    private func finish(_ backgroundCalls: [BackgroundCall], by limit: Int, _ worker: Worker) {
        let now = worker.loop.refreshNow()
        end = min(max(limit, now + Self.limit), now + Self.longestEnd)
        if !backgroundCalls.isEmpty {
            timer = try? Timer(loop: worker.loop, everyMilliseconds: Self.interval) { [unowned worker] in
                worker.sweepBackgroundCalls()
            }
        }
        add(backgroundCalls, worker)
        tell(worker, now)
    }

    private func start(_ worker: Worker) {
        while runs.count < Self.most, let backgroundCall = waiting.popLast() {
            let connection = worker.connectToNobody()
            let run = Run(backgroundCall, connection, until: min(worker.loop.now + Self.limit, end))
            runs.append(run)
            connection.run(backgroundCall) { [weak self, weak run] reason in
                run?.isReported = true
                if let reason { self?.fail(backgroundCall, reason) }
            }
        }
    }

    private func fail(_ backgroundCall: BackgroundCall, _ reason: String) {
        failures["\(backgroundCall.remains): \(reason)", default: 0] += 1
    }

    /// Closes finished and late background calls, and starts waiting ones.
    func sweep(_ worker: Worker) {
        if isEmpty, failures.isEmpty { return }
        let now = worker.loop.now
        for run in runs where !run.connection.isClosed {
            if run.connection.machine.isIdle { run.connection.client.closeGracefully(.close) }
            if now >= run.until { run.connection.cut() }
        }
        for run in runs where run.connection.isClosed && !run.isReported {
            fail(run.backgroundCall, "AM takes too long")
        }
        runs.removeAll { $0.connection.isClosed }
        if now >= end {
            for backgroundCall in waiting { fail(backgroundCall, "there was no time left") }
            waiting = []
        }
        start(worker)
        tell(worker, now)
    }

    /// Logs one line for all failures since the last one.
    private func tell(_ worker: Worker, _ now: Int) {
        guard !failures.isEmpty, end == .max ? now >= nextWarning : isEmpty else { return }
        nextWarning = now + Self.warningInterval
        let words = failures.sorted { $0.key < $1.key }.map { $0.value > 1 ? "\($0.key) (\($0.value) times)" : $0.key }
        failures = [:]
        worker.report.warn(words.joined(separator: "; "))
    }

    func owns(_ connection: Connection) -> Bool { runs.contains { $0.connection === connection } }
}
