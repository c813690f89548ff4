internal import Interception
internal import Metrics

/// The output of one loop: records of exchanges, warnings for the operator, load, and lateness of turns.
final class LoopReport {
    private let recorder: any Recorder
    private let metrics: LoopMetrics
    private let gauge: LoadGauge
    private var load = LoadGauge.Reading()
    /// The due time of the next sweep.
    private var nextSweep: Int

    init(_ recorder: any Recorder, _ metrics: LoopMetrics, _ gauge: LoadGauge, now: Int) {
        self.recorder = recorder
        self.metrics = metrics
        self.gauge = gauge
        nextSweep = now + Worker.sweepInterval
    }

    func adopt(_ settings: WorkerSettings) { recorder.adopt(settings) }
    func warn(_ text: String) { recorder.warn(text) }
    func flush() { recorder.flush() }

    func accepted() { load.accepted += 1 }

    func record(_ record: borrowing ExchangeRecord) {
        load.served += 1
        recorder.record(record)
    }

    func sweepBegins(at now: Int) {
        metrics.wasLate(by: now - nextSweep)
        nextSweep = now + Worker.sweepInterval
    }

    /// - Parameter underWay: the count of running exchanges.
    func tell(connections: Int, underWay: Int) {
        load.connections = connections
        load.underWay = underWay
        gauge.set(load)
    }
}
