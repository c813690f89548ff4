/// Figures of the whole process at the time of a scrape.
public struct ProcessFigures: Sendable {
    public var version = ""
    public var generation = 1
    public var reloads = ReloadFigures()
    public var transactionsWaiting = 0
    public var log = QueueFigures()
    /// Nil if no traces are exported.
    public var traces: QueueFigures?
    /// Nil if no journal is kept.
    public var journal: JournalFigures?
    public var scripts: [ScriptFigures] = []
    /// Nil if the system does not tell.
    public var system: SystemFigures?

    public init() {}

    public struct ReloadFigures: Sendable {
        public var succeeded = 0
        public var failed = 0
        public var isLastGood = true
        /// The time when the active configuration was loaded, in seconds since 1970.
        public var since = 0

        public init() {}
    }

    /// Figures of a queue that drops items when it is full.
    public struct QueueFigures: Sendable {
        public var written: UInt64 = 0
        public var lost: UInt64 = 0

        public init() {}
    }

    public struct JournalFigures: Sendable {
        public var flows: UInt64 = 0
        public var bytes: UInt64 = 0
        public var taken: UInt64 = 0
        public var lost: UInt64 = 0
        /// Nil if flows are kept in memory alone.
        public var disk: DiskFigures?

        public init() {}
    }

    public struct ScriptFigures: Sendable {
        public struct Worker: Sendable {
            public var number: Int
            public var isReady: Bool
            public var restarts: UInt64
            public var open: UInt64
            public var answered: UInt64
            public var failed: UInt64
            public var late: UInt64
            /// The time of all answers together.
            public var milliseconds: UInt64

            public init(
                number: Int, isReady: Bool, restarts: UInt64, open: UInt64, answered: UInt64, failed: UInt64,
                late: UInt64, milliseconds: UInt64
            ) {
                self.number = number
                self.isReady = isReady
                self.restarts = restarts
                self.open = open
                self.answered = answered
                self.failed = failed
                self.late = late
                self.milliseconds = milliseconds
            }
        }

        public var name: String
        public var workers: [Worker]
        /// The questions that failed before a worker had them.
        public var unasked: UInt64
        /// The answers that could not be applied to their messages.
        public var unfit: UInt64

        public init(name: String, workers: [Worker], unasked: UInt64, unfit: UInt64) {
            (self.name, self.workers, self.unasked, self.unfit) = (name, workers, unasked, unfit)
        }
    }

    public struct DiskFigures: Sendable {
        public var isOpen = false
        public var flows: UInt64 = 0
        public var bytes: UInt64 = 0
        public var written: UInt64 = 0
        public var lost: UInt64 = 0

        public init() {}
    }

    public struct SystemFigures: Sendable {
        /// The start of the process in milliseconds since 1970.
        public var startMilliseconds: UInt64 = 0
        public var cpuMilliseconds: UInt64 = 0
        public var residentBytes: UInt64 = 0
        public var virtualBytes: UInt64 = 0
        public var openDescriptors: UInt64 = 0
        public var descriptorLimit: UInt64 = 0
        public var threads: UInt64 = 0

        public init() {}
    }
}
