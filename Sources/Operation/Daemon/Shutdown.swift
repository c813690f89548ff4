/// How far the daemon's end has come, and who sees to it that it comes.
struct Shutdown {
    enum Stage {
        case none
        case drains
        /// Somebody asked for it by a signal.
        case isAskedFor
    }

    private(set) var stage = Stage.none
    /// All workers have ended, and questions are still answered.
    private(set) var isDrained = false
    private let watchdog = ShutdownWatchdog()

    /// What loops have to end, once a drain is over, in milliseconds.
    private static let grace = 5_000

    var isUnderWay: Bool { stage != .none }

    /// - Returns: false where it was under way before.
    mutating func begin(_ new: Stage) -> Bool {
        let isFirst = !isUnderWay
        stage = new
        return isFirst
    }

    mutating func drained() { isDrained = true }

    /// A loop that is stuck in a call hears no letter: a thread of its own ends the process.
    func force(after limit: Int, _ reason: String, _ log: LogSink?) {
        watchdog.expectEnd(within: limit + Self.grace) {
            Console.error(
                "a worker is stuck: it has not ended \(Self.grace / 1000) s after \(reason); "
                    + "the process ends without it"
            )
            log?.close()
        }
    }

    /// Everything has ended.
    func cancel() { watchdog.cancel() }
}
