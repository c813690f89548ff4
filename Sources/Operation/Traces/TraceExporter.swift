import Configuration
import EventLoop
import Metrics
import Synchronization
import TLSEngine

/// Hands spans to a collector, on a thread of its own. A collector that is slow, away or of another mind costs spans, which are
/// counted, and nothing else.
final class TraceExporter: Sendable {
    private struct Queue {
        var spans: [FinishedSpan] = []
        var closing = false
    }

    private final class Tally: Sendable {
        let exported = Atomic<Int>(0)
        let lost = Atomic<Int>(0)
    }

    private let queue = Locked(Queue())
    private let tally = Tally()
    private let thread: SystemThread

    /// Spans that may wait; more are lost.
    private static let limit = 8_192
    private static let batch = 512
    /// How often one batch is tried.
    private static let attempts = 5
    /// Between the first two attempts, in milliseconds; then twice as long each time.
    private static let pause = 1_000
    /// How long the end waits for a collector, in milliseconds.
    private static let farewell = 2_000
    /// Between two words on standard error, in milliseconds.
    private static let interval = 60_000

    /// - Throws: in words for a person.
    init(_ settings: TracingSettings, _ trust: () throws -> SpanCollector.Trust) throws(Supervisor.StartFault) {
        let collector: SpanCollector
        do {
            collector = try SpanCollector(settings.endpoint, trust)
        } catch let fault as MaterialFault {
            throw Supervisor.StartFault(description: "traces cannot be exported: what is to be trusted \(fault.words)")
        } catch {
            throw Supervisor.StartFault(description: "traces cannot be exported to \(settings.endpoint): \(error)")
        }
        let (queue, tally) = (queue, tally)
        do throws(SystemError) {
            thread = try SystemThread(name: "traces") {
                Self.run(queue, tally, collector, service: settings.service)
            }
        } catch {
            throw Supervisor.StartFault(description: error.description)
        }
    }

    func post(_ spans: [FinishedSpan]) {
        let lost = queue.withLock { queue -> Int in
            let room = max(0, Self.limit - queue.spans.count)
            queue.spans += spans.prefix(room)
            return max(0, spans.count - room)
        }
        queue.signal { _ in }
        if lost > 0 { tally.lost.wrappingAdd(lost, ordering: .relaxed) }
    }

    var figures: ProcessFigures.QueueFigures {
        var figures = ProcessFigures.QueueFigures()
        figures.written = UInt64(max(0, tally.exported.load(ordering: .relaxed)))
        figures.lost = UInt64(max(0, tally.lost.load(ordering: .relaxed)))
        return figures
    }

    /// Tries to hand over what is left. No collector holds up the end for long.
    func close() {
        queue.signal { $0.closing = true }
        _ = thread.join(withinMilliseconds: Self.farewell + 500)
    }

    // MARK: the thread

    private static func run(_ queue: Locked<Queue>, _ tally: Tally, _ collector: SpanCollector, service: String) {
        var words = Words(interval: interval)
        while true {
            let (spans, closing) = queue.wait { queue -> ([FinishedSpan], Bool)? in
                guard !queue.spans.isEmpty || queue.closing else { return nil }
                let taken = Array(queue.spans.prefix(batch))
                queue.spans.removeFirst(taken.count)
                return (taken, queue.closing)
            }
            if spans.isEmpty { return }
            let body = SpanDocument.bytes(spans, service: service)
            if deliver(body, queue, collector, closing, &words) {
                tally.exported.wrappingAdd(spans.count, ordering: .relaxed)
            } else {
                tally.lost.wrappingAdd(spans.count, ordering: .relaxed)
            }
        }
    }

    /// - Returns: whether the collector took it.
    private static func deliver(
        _ body: [UInt8], _ queue: Locked<Queue>, _ collector: SpanCollector, _ closing: Bool, _ words: inout Words
    ) -> Bool {
        var wait = pause
        for attempt in 1...attempts {
            switch collector.post(body, within: closing ? farewell : SpanCollector.limit) {
            case .taken:
                words.recovered(collector.name)
                return true
            case .refused(let reason):
                words.say(collector.name, reason)
                return false
            case .failed(let reason):
                words.say(collector.name, reason)
                guard attempt < attempts, !closing else { return false }
                if queue.wait(milliseconds: wait, { $0.closing ? true : nil }) == true { return false }
                wait *= 2
            }
        }
        return false
    }

    /// What a person is told of the collector: when it begins to fail, then now and then, and when it takes spans again.
    private struct Words {
        let interval: Int
        private var next = Int.min
        private var fails = false

        init(interval: Int) { self.interval = interval }

        mutating func say(_ name: String, _ reason: String) {
            fails = true
            guard Loop.monotonicMilliseconds() >= next else { return }
            next = Loop.monotonicMilliseconds() + interval
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
