import EventLoop
import Glibc

/// Writes batches of log lines on a thread of its own: a full pipe must never hold up a loop.
final class LogSink: Sendable {
    private struct Queue {
        var batches: [[UInt8]] = []
        var bytes = 0
        /// Records that did not fit into the queue.
        var lost = 0
        var closing = false
    }

    private let queue: Locked<Queue>
    private let thread: SystemThread
    /// What may wait for a slow reader; more is lost, and said to be.
    private static let limit = 16 << 20
    /// How long the end waits for a reader, in milliseconds.
    private static let timeout = 3_000

    init(descriptor: Int32) throws(SystemError) {
        let queue = Locked(Queue())
        self.queue = queue
        thread = try SystemThread(name: "log") {
            var writer = LogWriter(descriptor)
            while true {
                let (batches, lost, closing) = queue.wait { queue -> ([[UInt8]], Int, Bool)? in
                    guard !queue.batches.isEmpty || queue.closing else { return nil }
                    defer {
                        queue.batches = []
                        queue.bytes = 0
                        queue.lost = 0
                    }
                    return (queue.batches, queue.lost, queue.closing)
                }
                for batch in batches { writer.write(batch) }
                writer.lose(lost, "standard output is read too slowly")
                if closing { return writer.finish() }
            }
        }
    }

    func post(_ batch: [UInt8]) {
        queue.signal { queue in
            guard queue.bytes + batch.count <= Self.limit else {
                queue.lost += LogWriter.records(in: batch[...])
                return
            }
            queue.batches.append(batch)
            queue.bytes += batch.count
        }
    }

    /// Writes what is left and ends. Who does not read for some seconds does not hold up the end.
    func close() {
        queue.signal { $0.closing = true }
        if !thread.join(withinMilliseconds: Self.timeout) {
            Console.error("the rest of the log was lost: standard output is not read")
        }
    }
}
