import EventLoop
import Glibc
import Observation
import Synchronization

/// Writes batches of log records on a thread of its own: a full pipe must never hold up a loop.
final class LogSink: Sendable {
    private struct Queue {
        var batches: [[UInt8]] = []
        var bytes = 0
        /// Records that did not fit into the queue.
        var lost = 0
        /// Since when nobody took them off, in monotonic milliseconds.
        var lostSince = 0
        /// For a person, and not for the log.
        var words: [String] = []
        var reopens = false
        var closing = false

        var isIdle: Bool { batches.isEmpty && lost == 0 && words.isEmpty && !reopens && !closing }
    }

    private final class Tally: Sendable {
        let written = Atomic<Int>(0)
        let lost = Atomic<Int>(0)
        /// When it may be said next that nobody reads.
        let nextWord = Atomic<Int>(0)
    }

    let frame: LogFrame
    private let queue: Locked<Queue>
    private let tally = Tally()
    private let thread: SystemThread
    private let name: String
    /// What may wait for a slow reader; more is lost, and said to be.
    private static let limit = 16 << 20
    private static let wordsLimit = 64
    /// How long a write may take before it is said, and how long it is not said again, in milliseconds.
    private static let standstill = 1_000
    private static let interval = 60_000
    /// How long the end waits for a reader, in milliseconds.
    private static let timeout = 3_000

    /// - Parameters:
    ///   - open: called here, and its output used on the log's own thread alone.
    ///   - tellsGaps: what is missing is told among the records.
    init(
        frame: LogFrame = .lines, tellsGaps: Bool = true, _ open: () throws(SystemError) -> any LogOutput
    ) throws(SystemError) {
        let queue = Locked(Queue())
        self.queue = queue
        self.frame = frame
        let output = try open()
        name = output.name
        // whoever opened it has no other reference to it
        nonisolated(unsafe) let given = output
        let tally = tally
        thread = try SystemThread(name: "log") {
            let output = given
            var writer = LogWriter(
                frame: frame, tellsGaps: tellsGaps, put: output.put, say: Console.error,
                now: Loop.monotonicMilliseconds)
            while true {
                let next = queue.wait { queue -> Queue? in
                    guard !queue.isIdle else { return nil }
                    defer {
                        let closing = queue.closing
                        queue = Queue()
                        queue.closing = closing
                    }
                    return queue
                }
                // what waits belongs to the file that there was
                for batch in next.batches { writer.write(batch) }
                writer.lose(next.lost, "\(output.name) is read too slowly")
                Self.add(writer.takeTally(), to: tally)
                if next.reopens, let reason = output.reopen() {
                    Console.error("\(output.name) cannot be opened anew, the log goes on in the old file: \(reason)")
                }
                for words in next.words { Console.error(words) }
                if next.closing { return writer.finish() }
            }
        }
    }

    private static func add(_ new: LogWriter.Tally, to tally: Tally) {
        tally.written.wrappingAdd(new.written, ordering: .relaxed)
        tally.lost.wrappingAdd(new.lost, ordering: .relaxed)
    }

    func post(_ batch: [UInt8]) {
        queue.signal { queue in
            guard queue.bytes + batch.count <= Self.limit else {
                if queue.lost == 0 { queue.lostSince = Loop.monotonicMilliseconds() }
                queue.lost += frame.records(in: batch[...])
                return
            }
            queue.batches.append(batch)
            queue.bytes += batch.count
        }
    }

    /// A line on standard error, which may be read as slowly as the log.
    func say(_ words: String) {
        queue.signal { if $0.words.count < Self.wordsLimit { $0.words.append(words) } }
    }

    /// What has to be said of a log that nobody reads, once a minute: its own thread is in the middle of a write then.
    /// - Parameter now: in monotonic milliseconds.
    func complaint(_ now: Int) -> String? {
        let (lost, since) = queue.withLock { ($0.lost, $0.lostSince) }
        guard lost > 0, now >= since + Self.standstill, now >= tally.nextWord.load(ordering: .relaxed) else {
            return nil
        }
        tally.nextWord.store(now + Self.interval, ordering: .relaxed)
        return "\(lost) \(lost == 1 ? "record" : "records") of the log did not fit, for \(name) is not read"
    }

    /// Whoever keeps the files has moved them.
    func reopen() { queue.signal { $0.reopens = true } }

    /// Records that were written, and those that were not, also where nobody was told yet.
    var figures: (written: Int, lost: Int) {
        let waiting = queue.withLock { $0.lost }
        return (tally.written.load(ordering: .relaxed), tally.lost.load(ordering: .relaxed) + waiting)
    }

    /// Writes what is left and ends. Who does not read for some seconds does not hold up the end.
    func close() {
        queue.signal { $0.closing = true }
        if !thread.join(withinMilliseconds: Self.timeout) {
            Console.error("the rest of the log was lost: \(name) is not read")
        }
    }
}
