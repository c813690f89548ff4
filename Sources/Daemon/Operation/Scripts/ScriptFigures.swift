import Glibc
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
        var asked = 0
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

    static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
