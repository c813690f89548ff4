import Configuration
import EventLoop
import Metrics
import Synchronization
import TLSEngine

/// Exports spans to a collector on another thread. If the collector is slow, unreachable or refuses, spans are lost and counted,
/// without any other effect.
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
    /// A queued task sends all spans that are available when it runs.
    private let work = WorkQueue("traces")

    /// The largest number of queued spans. More are lost.
    private static let limit = 8_192
    private static let batch = 512
    /// The number of attempts for a batch.
    private static let attempts = 5
    /// In milliseconds. The wait after the first attempt, doubled each time.
    private static let pause = 1_000
    /// The longest wait for the collector at the end, in milliseconds.
    private static let closingTime = 2_000

    /// - Throws: a message for a person.
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
        start()
    }

    private func start() { try? work.run { [self] in deliver() } }

    var figures: ProcessFigures.QueueFigures {
        var figures = ProcessFigures.QueueFigures()
        figures.written = UInt64(max(0, exported.load(ordering: .relaxed)))
        figures.lost = UInt64(max(0, lost.load(ordering: .relaxed)))
        return figures
    }

    /// Tries to send the remaining spans, within a short time limit.
    func close() {
        queue.signal { $0.closing = true }
        start()
        work.rests(withinMilliseconds: Self.closingTime + 500)
    }

    // MARK: work

    /// Sends until no spans are left.
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

    /// - Returns: whether the collector accepted them.
    private func deliver(_ body: [UInt8], _ closing: Bool) -> Bool {
        var wait = Self.pause
        for attempt in 1...Self.attempts {
            switch collector.post(body, within: closing ? Self.closingTime : SpanCollector.limit) {
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

    /// The messages to a person about the collector: at the first failure, at intervals, and after recovery.
    private struct Words {
        private var next = Int.min
        private var fails = false

        /// The interval of messages on standard error, in milliseconds.
        private static let interval = 60_000

        mutating func say(_ name: String, _ reason: String) {
            fails = true
            guard Loop.monotonicMilliseconds() >= next else { return }
            next = Loop.monotonicMilliseconds() + Self.interval
            Console.error("the trace collector at \(name) accepts no spans: \(reason)")
        }

        mutating func recovered(_ name: String) {
            guard fails else { return }
            fails = false
            next = Int.min
            Console.error("the trace collector at \(name) accepts spans again")
        }
    }
}
