import EventLoop
import Glibc
import Observation
import Synchronization

/// Writes batches of log records on its own thread, so that a full pipe does not block a loop.
final class LogSink: Sendable {
    private struct Queue {
        var batches: [[UInt8]] = []
        var bytes = 0
        /// The number of records that did not fit into the queue.
        var lost = 0
        /// The time of the first of these losses, in monotonic milliseconds.
        var lostSince = 0
        /// Messages for a person, outside the log.
        var words: [String] = []
        var reopens = false
        var closing = false

        var isIdle: Bool { batches.isEmpty && lost == 0 && words.isEmpty && !reopens && !closing }
    }

    private final class Tally: Sendable {
        let written = Atomic<Int>(0)
        let lost = Atomic<Int>(0)
        /// The time of the next complaint about an unread log.
        let nextWord = Atomic<Int>(0)
    }

    let frame: LogFrame
    private let queue: Locked<Queue>
    private let tally = Tally()
    private let thread: SystemThread
    private let name: String
    /// The size of the queue in bytes. Records that do not fit are lost and reported.
    private static let limit = 16 << 20
    private static let wordsLimit = 64
    /// In milliseconds. A write that takes longer is reported.
    private static let standstill = 1_000
    private static let interval = 60_000
    /// The longest wait for the reader at the end, in milliseconds.
    private static let timeout = 3_000

    /// - Parameters:
    ///   - open: called here; its result is used on the log's own thread only.
    ///   - tellsGaps: true to report missing records among the records.
    init(
        frame: LogFrame = .lines, tellsGaps: Bool = true, _ open: () throws(SystemError) -> any LogOutput
    ) throws(SystemError) {
        let queue = Locked(Queue())
        self.queue = queue
        self.frame = frame
        let output = try open()
        name = output.name
        // the caller keeps no other reference
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
                // queued records belong to the old file
                for batch in next.batches { writer.write(batch) }
                writer.lose(next.lost, "\(output.name) is read too slowly")
                Self.add(writer.takeTally(), to: tally)
                if next.reopens, let reason = output.reopen() {
                    Console.error("\(output.name) cannot be reopened, so the log continues in the old file: \(reason)")
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

    /// Prints a line on standard error, which may be as slow as the log.
    func say(_ words: String) {
        queue.signal { if $0.words.count < Self.wordsLimit { $0.words.append(words) } }
    }

    /// A complaint about an unread log, once a minute, made while the log's own thread is blocked in a write.
    /// - Parameter now: in monotonic milliseconds.
    func complaint(_ now: Int) -> String? {
        let (lost, since) = queue.withLock { ($0.lost, $0.lostSince) }
        guard lost > 0, now >= since + Self.standstill, now >= tally.nextWord.load(ordering: .relaxed) else {
            return nil
        }
        tally.nextWord.store(now + Self.interval, ordering: .relaxed)
        return "\(lost) \(lost == 1 ? "record" : "records") of the log were dropped because \(name) is not read"
    }

    /// Reopens the files after they were moved.
    func reopen() { queue.signal { $0.reopens = true } }

    /// The number of records written and lost, including those not reported yet.
    var figures: (written: Int, lost: Int) {
        let waiting = queue.withLock { $0.lost }
        return (tally.written.load(ordering: .relaxed), tally.lost.load(ordering: .relaxed) + waiting)
    }

    /// Writes queued records and ends. It waits for a slow reader for some seconds only.
    func close() {
        queue.signal { $0.closing = true }
        if !thread.join(withinMilliseconds: Self.timeout) {
            Console.error("the rest of the log was lost: \(name) is not read")
        }
    }
}
