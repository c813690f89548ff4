import Configuration
import Formats
import Glibc
import Interception
import Metrics
import Observation
import ProxyCore
import ProxyDriver
import TLSEngine

/// The daemon's log, metrics and traces. One per process; used on the supervisor's thread, and by the loops through recorders.
final class Instruments {
    let log: ProcessLog
    let traces: TraceExporter?
    private var loops: [LoopMetrics] = []
    private var reloads = ProcessFigures.ReloadFigures()
    private let access: LogSettings.Access
    private var rates = RateHistory(since: time(nil))

    /// - Throws: a message for a person.
    init(_ snapshot: Snapshot, _ options: ServeOptions) throws(Supervisor.StartFault) {
        access = snapshot.log.access
        log = try ProcessLog(snapshot.log, stdout: options.log, isDaemon: options.isDaemon)
        reloads.since = time(nil)
        guard let tracing = snapshot.tracing else {
            traces = nil
            return
        }
        let trust = snapshot.tls.origins
        traces = try TraceExporter(tracing) {
            try OriginContext(
                usesSystemTrust: trust.usesSystemTrust, extraTrust: trust.extraTrust,
                revocationLists: trust.revocationLists, minimum: trust.minimum)
        }
    }

    /// Adds the metrics of one more loop.
    func addLoop() -> LoopMetrics {
        let metrics = LoopMetrics()
        loops.append(metrics)
        return metrics
    }

    /// Runs on the loop's own thread.
    func recorder(_ metrics: LoopMetrics) -> @Sendable () -> any Recorder {
        { [log, traces] in
            LoopRecorder(
                log: AccessLog(
                    detail: log.detail, format: log.format, frame: log.sink?.frame ?? .lines,
                    emit: { log.sink?.post($0) }, say: { log.sink?.say($0) }),
                metrics: metrics, traces: traces.map(SpanBatch.init))
        }
    }

    /// Counts a reload: the new snapshot, or nil if it failed.
    func reloaded(_ snapshot: Snapshot?) {
        reloads.isLastGood = snapshot != nil
        guard let snapshot else {
            reloads.failed += 1
            return
        }
        reloads.succeeded += 1
        reloads.since = time(nil)
        tell(snapshot.log)
    }

    /// Applies the log level. Other log settings take effect at the next start.
    /// - Returns: false if there is no log.
    @discardableResult
    func tell(_ settings: LogSettings) -> Bool {
        guard log.sink != nil, access != .none else { return false }
        var settings = settings
        settings.access = access
        log.detail.current = settings.detail
        return true
    }

    /// Ends a minute of the rates.
    func endMinute() { rates.end(loops, at: time(nil)) }
    var shownRates: JSONValue { rates.json(loops) }

    func reopenLog() { log.sink?.reopen() }

    func close() {
        traces?.close()
        log.sink?.close()
    }

    /// - Parameter figures: figures of other parts.
    func page(_ figures: ProcessFigures) -> [UInt8] {
        var figures = figures
        figures.version = Version.usher
        figures.reloads = reloads
        if let written = log.sink?.figures {
            figures.log.written = UInt64(max(0, written.written))
            figures.log.lost = UInt64(max(0, written.lost))
        }
        figures.traces = traces?.figures
        figures.system = SystemFigures.read()
        return MetricsPage.text(loops, figures)
    }
}

/// Records the exchanges of one loop in the log, the metrics and, if enabled, the traces.
final class LoopRecorder: Recorder {
    private let log: AccessLog
    private let metrics: LoopMetrics
    private let traces: SpanBatch?

    init(log: AccessLog, metrics: LoopMetrics, traces: SpanBatch?) {
        self.log = log
        self.metrics = metrics
        self.traces = traces
    }

    func record(_ record: borrowing ExchangeRecord) {
        metrics.take(record)
        log.record(record)
        traces?.take(record)
    }

    func warn(_ text: String) { log.warn(text) }

    func adopt(_ settings: WorkerSettings) {
        let known = settings.engine.settings
        metrics.adopt(
            MetricLabels(
                actions: known.actions.map(\.action), realms: known.servers.flatMap(\.realms),
                interceptors: known.rules.map(\.name)))
    }

    func flush() {
        log.flush()
        traces?.flush()
    }
}
