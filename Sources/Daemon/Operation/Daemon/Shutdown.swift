/// The progress of the daemon's shutdown.
struct Shutdown {
    enum Stage {
        case none
        case drains
        /// Requested by a signal.
        case isAskedFor
    }

    private(set) var stage = Stage.none
    /// True once all workers have ended; the admin API is still available.
    private(set) var isDrained = false
    private let watchdog = ShutdownWatchdog()

    /// In milliseconds. The time for the loops to end after a drain.
    private static let grace = 5_000

    var isUnderWay: Bool { stage != .none }

    /// - Returns: false if the shutdown had begun before.
    mutating func begin(_ new: Stage) -> Bool {
        let isFirst = !isUnderWay
        stage = new
        return isFirst
    }

    mutating func drained() { isDrained = true }

    /// Ends the process from another thread if a loop is stuck, because a stuck loop receives no messages.
    func force(after limit: Int, _ reason: String, _ log: LogSink?) {
        watchdog.expectEnd(within: limit + Self.grace) {
            Console.error(
                "a worker is stuck: it still runs \(Self.grace / 1000) s after \(reason); "
                    + "the process ends without it"
            )
            log?.close()
        }
    }

    /// Cancels the forced end.
    func cancel() { watchdog.cancel() }
}
