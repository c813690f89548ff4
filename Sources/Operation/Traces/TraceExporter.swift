import Configuration
import EventLoop
import Metrics
import Synchronization
import TLSEngine

/// Hands spans to a collector, on another thread. A collector that is slow, away or of another mind costs spans, which are
/// counted, and nothing else.
final class TraceExporter: Sendable {
    private struct Queue {
        var spans: [FinishedSpan] = []
        var closing = false
    }

    private let queue = Locked(Queue())
    private let exported = Atomic<Int>(0)
    private let lost = Atomic<Int>(0)
    private let collector: SpanCollector
    private let service: String
    private let words = Locked(Words())
    /// One that waits takes in all spans that there are by then.
    private let work = WorkQueue("traces")

    /// Spans that may wait; more are lost.
    private static let limit = 8_192
    private static let batch = 512
    /// How often one batch is tried.
    private static let attempts = 5
    /// Between the first two attempts, in milliseconds; then twice as long each time.
    private static let pause = 1_000
    /// How long the end waits for a collector, in milliseconds.
    private static let farewell = 2_000

    /// - Throws: in words for a person.
    init(_ settings: TracingSettings, _ trust: () throws -> SpanCollector.Trust) throws(Supervisor.StartFault) {
        do {
            collector = try SpanCollector(settings.endpoint, trust)
        } catch let fault as MaterialFault {
            throw Supervisor.StartFault(description: "traces cannot be exported: what is to be trusted \(fault.words)")
        } catch {
            throw Supervisor.StartFault(description: "traces cannot be exported to \(settings.endpoint): \(error)")
        }
        service = settings.service
    }

    func post(_ spans: [FinishedSpan]) {
        let excess = queue.withLock { queue -> Int in
            let room = max(0, Self.limit - queue.spans.count)
            queue.spans += spans.prefix(room)
            return max(0, spans.count - room)
        }
        if excess > 0 { lost.wrappingAdd(excess, ordering: .relaxed) }
        begin()
    }

    private func begin() { try? work.run { [self] in deliver() } }

    var figures: ProcessFigures.QueueFigures {
        var figures = ProcessFigures.QueueFigures()
        figures.written = UInt64(max(0, exported.load(ordering: .relaxed)))
        figures.lost = UInt64(max(0, lost.load(ordering: .relaxed)))
        return figures
    }

    /// Tries to hand over what is left. No collector holds up the end for long.
    func close() {
        queue.signal { $0.closing = true }
        begin()
        work.rests(withinMilliseconds: Self.farewell + 500)
    }

    // MARK: the work

    /// Until no spans are left.
    private func deliver() {
        while true {
            let (spans, closing) = queue.withLock { queue in
                let taken = Array(queue.spans.prefix(Self.batch))
                queue.spans.removeFirst(taken.count)
                return (taken, queue.closing)
            }
            if spans.isEmpty { return }
            if deliver(SpanDocument.bytes(spans, service: service), closing) {
                exported.wrappingAdd(spans.count, ordering: .relaxed)
            } else {
                lost.wrappingAdd(spans.count, ordering: .relaxed)
            }
        }
    }

    /// - Returns: whether the collector took it.
    private func deliver(_ body: [UInt8], _ closing: Bool) -> Bool {
        var wait = Self.pause
        for attempt in 1...Self.attempts {
            switch collector.post(body, within: closing ? Self.farewell : SpanCollector.limit) {
            case .taken:
                words.withLock { $0.recovered(collector.name) }
                return true
            case .refused(let reason):
                words.withLock { $0.say(collector.name, reason) }
                return false
            case .failed(let reason):
                words.withLock { $0.say(collector.name, reason) }
                guard attempt < Self.attempts, !closing else { return false }
                if queue.wait(milliseconds: wait, { $0.closing ? true : nil }) == true { return false }
                wait *= 2
            }
        }
        return false
    }

    /// What a person is told of the collector: when it begins to fail, then now and then, and when it takes spans again.
    private struct Words {
        private var next = Int.min
        private var fails = false

        /// Between two words on standard error, in milliseconds.
        private static let interval = 60_000

        mutating func say(_ name: String, _ reason: String) {
            fails = true
            guard Loop.monotonicMilliseconds() >= next else { return }
            next = Loop.monotonicMilliseconds() + Self.interval
            Console.error("the collector of traces at \(name) takes no spans: \(reason)")
        }

        mutating func recovered(_ name: String) {
            guard fails else { return }
            fails = false
            next = Int.min
            Console.error("the collector of traces at \(name) takes spans again")
        }
    }
}
