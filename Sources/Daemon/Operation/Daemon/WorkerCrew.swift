import EventLoop
import Metrics
import ProxyDriver

/// The workers' threads, and the watch over their loops.
final class WorkerCrew {
    private let loop: Loop
    private var workers: [WorkerThread] = []
    var threads: [WorkerThread] { workers }
    private var alive = 0
    /// The error of a worker that could not start.
    private(set) var failure: SystemError?
    private var ends: EventSource?
    private var watch: LoopWatch?

    /// - Parameter loop: the supervisor's loop.
    init(_ loop: Loop) { self.loop = loop }

    /// - Parameters:
    ///   - addresses: all addresses that this process listens on.
    ///   - ended: called when a worker has ended, with the error if it could not start.
    func start(
        _ settings: WorkerSettings, _ tables: SharedTables, _ sockets: [[WorkerListener]],
        at addresses: [SocketAddress], _ instruments: Instruments,
        recorder: (LoopMetrics) -> @Sendable () -> any Recorder, ended: @escaping (SystemError?) -> Void
    ) throws(SystemError) {
        let ends = try Mailbox<SystemError?>()
        self.ends = try MailboxPort(loop: loop, ends) { [unowned self] error in
            alive -= 1
            if let error { failure = error }
            ended(error)
        }
        alive = sockets.count
        for (number, listeners) in sockets.enumerated() {
            let metrics = instruments.addLoop()
            workers.append(
                try WorkerThread(
                    number: number, settings: settings, tables: tables, metrics: metrics, listeners: listeners,
                    addresses: addresses, recorder: recorder(metrics), ended: { ends.post($0) }))
        }
    }

    func startWatch(_ faults: RecentFaults) throws(SystemError) {
        // the start took its time, which is no stall
        loop.pulse.turn(at: loop.refreshNow())
        let loops =
            workers.enumerated().map { LoopWatch.Watched(name: "worker \($0.offset)", pulse: $0.element.pulse) }
            + [LoopWatch.Watched(name: "the supervisor", pulse: loop.pulse)]
        watch = try LoopWatch(
            loops, watchdog: ServiceManager.watchdogInterval, notify: { ServiceManager.notify("WATCHDOG=1") },
            say: { [faults] in
                faults.add($0)
                Console.error($0)
            })
    }

    var count: Int { workers.count }
    /// True once all workers have ended.
    var isOver: Bool { alive == 0 }
    /// The load of each worker, and its pulse.
    var loads: [(load: LoadGauge.Reading, pulse: LoopPulse)] { workers.map { ($0.gauge.reading, $0.pulse) } }
    /// The total load.
    var total: LoadGauge.Reading { workers.reduce(LoadGauge.Reading()) { $0 + $1.gauge.reading } }

    func adopt(_ settings: WorkerSettings) { for worker in workers { worker.adopt(settings) } }
    /// Has the loops connect no client to an address of this process.
    func refuseOrigin(at address: SocketAddress) { for worker in workers { worker.refuseOrigin(at: address) } }
    func drain(sparingIdleFor patience: Int) { for worker in workers { worker.drain(sparingIdleFor: patience) } }
    func stop() { for worker in workers { worker.stop() } }

    /// Waits for all workers to end.
    func join() {
        watch?.end()
        for worker in workers { worker.join() }
    }
}

extension [WorkerThread] {
    /// Has the loops hand over the flows that have ended, and then calls, on any thread.
    func flush(_ done: @escaping @Sendable () -> Void) {
        guard !isEmpty else { return done() }
        let left = Locked(count)
        for worker in self {
            worker.flush {
                let isLast = left.withLock { count in
                    count -= 1
                    return count == 0
                }
                if isLast { done() }
            }
        }
    }
}
