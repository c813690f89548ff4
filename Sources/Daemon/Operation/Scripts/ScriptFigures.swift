import Formats
import Glibc
import Metrics
import Scripts

/// The figures of one script.
struct ScriptFigures: Sendable {
    struct Worker: Sendable {
        let number: Int
        let pid: Int?
        let stage: WorkerLife.Stage
        let restarts: Int
        let open: Int
        let counts: Counts
        let fault: String?
    }

    struct Counts: Sendable {
        /// Questions without a good answer in time.
        var failed = 0
        /// Answers that came after their exchange went on.
        var late = 0
        var answered = 0
        /// The time of all answers together, and of the slowest, in nanoseconds.
        var time: UInt64 = 0
        var slowest: UInt64 = 0

        mutating func note(since began: UInt64) {
            let taken = ScriptFigures.nanoseconds() &- began
            answered += 1
            time &+= taken
            slowest = max(slowest, taken)
        }
    }

    let name: String
    let words: String
    let workers: [Worker]
    /// The questions that failed before a worker had them.
    let unasked: Int
    /// The answers that could not be applied to their messages.
    let unfit: Int
    /// Whether the configuration in force does without it.
    let isRetired: Bool

    /// The figures of the scripts in force, one of each name.
    static func inForce(_ all: [ScriptFigures]) -> [ProcessFigures.ScriptFigures] {
        var names: Set<String> = []
        return all.filter { !$0.isRetired && names.insert($0.name).inserted }.map(\.figures)
    }

    private var figures: ProcessFigures.ScriptFigures {
        .init(
            name: name,
            workers: workers.map {
                .init(
                    number: $0.number, isReady: $0.stage == .ready, restarts: UInt64($0.restarts),
                    open: UInt64($0.open),
                    answered: UInt64($0.counts.answered), failed: UInt64($0.counts.failed),
                    late: UInt64($0.counts.late),
                    milliseconds: $0.counts.time / 1_000_000)
            }, unasked: UInt64(unasked), unfit: UInt64(unfit))
    }

    /// As the status has it.
    var json: JSONValue {
        [
            "name": .string(name), "program": .string(words), "retired": .bool(isRetired),
            "unasked": .integer(unasked), "unfit": .integer(unfit), "workers": .array(workers.map(Self.json)),
        ]
    }

    private static func json(_ worker: Worker) -> JSONValue {
        let counts = worker.counts
        return [
            "number": .integer(worker.number), "pid": .optional(worker.pid), "state": .string(worker.stage.rawValue),
            "restarts": .integer(worker.restarts), "open": .integer(worker.open), "answered": .integer(counts.answered),
            "failed": .integer(counts.failed), "late": .integer(counts.late),
            "average_us": .integer(counts.time / UInt64(max(counts.answered, 1)) / 1_000),
            "slowest_us": .integer(counts.slowest / 1_000), "last_fault": .optional(worker.fault),
        ]
    }

    static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
