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
        let fault: String?
    }

    struct Counts: Sendable {
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
    let counts: Counts

    var figures: ProcessFigures.ScriptFigures {
        .init(
            name: name, ready: UInt64(workers.count { $0.stage == .ready }),
            restarts: UInt64(workers.reduce(0) { $0 + $1.restarts }), open: UInt64(workers.reduce(0) { $0 + $1.open }),
            answered: UInt64(counts.answered), failed: UInt64(counts.failed), late: UInt64(counts.late),
            milliseconds: counts.time / 1_000_000)
    }

    /// As the status has it.
    var json: JSONValue {
        [
            "name": .string(name), "program": .string(words), "answered": .integer(counts.answered),
            "failed": .integer(counts.failed), "late": .integer(counts.late),
            "average_us": .integer(counts.time / UInt64(max(counts.answered, 1)) / 1_000),
            "slowest_us": .integer(counts.slowest / 1_000),
            "workers": .array(
                workers.map {
                    [
                        "number": .integer($0.number), "pid": .optional($0.pid), "state": .string($0.stage.rawValue),
                        "restarts": .integer($0.restarts), "open": .integer($0.open), "last_fault": .optional($0.fault),
                    ]
                }),
        ]
    }

    static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
