/// What is told of the whole process, as it stands when somebody scrapes.
public struct ProcessFigures: Sendable {
    public var version = ""
    public var generation = 1
    public var reloads = ReloadFigures()
    public var transactionsWaiting = 0
    public var log = QueueFigures()
    /// Nil where no traces are exported.
    public var traces: QueueFigures?
    /// Nil where no journal is kept.
    public var journal: JournalFigures?
    /// Nil where the system does not say.
    public var system: SystemFigures?

    public init() {}

    public struct ReloadFigures: Sendable {
        public var succeeded = 0
        public var failed = 0
        public var isLastGood = true
        /// When the configuration in force was put in force, in seconds since 1970.
        public var since = 0

        public init() {}
    }

    /// What went by a queue that loses rather than waits.
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
        /// Nil where flows are kept in memory alone.
        public var disk: DiskFigures?

        public init() {}
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
        /// In seconds since 1970, a thousand times.
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
