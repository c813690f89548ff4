/// The life of one worker of a script. Pure: it is told what happened, and says what to do.
public struct WorkerLife: Equatable, Sendable {
    public enum Stage: String, CaseIterable, Sendable {
        /// Its process runs, and its hello is awaited.
        case starting
        case ready
        /// It broke or hung. Its process has to end.
        case ending
        /// It waits for its next start.
        case resting
        /// It was told to end, and its process has not yet.
        case leaving
        case gone
    }

    public enum Event: CaseIterable, Sendable {
        /// Its hello came and is good.
        case hello
        /// Its connection ended, or what it sent cannot be read.
        case broke
        /// Its process ended, or there was none.
        case exited
        /// The time that `deadline` names has come.
        case elapsed
        /// It is not needed any longer.
        case dismissed
        /// It is needed again.
        case wanted
    }

    public enum Deed: Equatable, Sendable {
        case none, start, kill, leave
    }

    public private(set) var stage = Stage.starting
    /// When to report `elapsed`, in monotonic milliseconds; nil for never.
    public private(set) var deadline: Int?
    /// How often it was started again.
    public private(set) var restarts = 0
    /// Starts in a row that came to nothing soon.
    private var failures = 0
    private var readySince = 0
    private let longestRest: Int

    /// The longest time until a hello, for the last frames of a worker that ends, and until a forced end.
    public static let helloLimit = 10_000
    public static let grace = 1_000
    private static let firstRest = 100
    /// A worker that was ready this long begins again with the shortest rest.
    private static let steady = 30_000

    public init(longestRest: Int, now: Int) {
        self.longestRest = longestRest
        deadline = now + Self.helloLimit
    }

    /// The stages that may follow a stage.
    public static func legal(_ stage: Stage) -> Set<Stage> {
        switch stage {
        case .starting: [.ready, .ending, .resting, .leaving]
        case .ready: [.ending, .resting, .leaving]
        case .ending: [.ending, .resting, .leaving]
        case .resting: [.starting, .gone]
        case .leaving: [.leaving, .gone]
        case .gone: [.starting]
        }
    }

    /// Handles an event. One that means nothing at this stage changes nothing.
    public mutating func take(_ event: Event, now: Int) -> Deed {
        switch (stage, event) {
        case (.starting, .hello):
            readySince = now
            enter(.ready, until: nil)
            return .none
        case (.starting, .broke), (.ready, .broke):
            forgive(now)
            enter(.ending, until: now + Self.grace)
            return .none
        case (.starting, .exited), (.ready, .exited), (.ending, .exited):
            forgive(now)
            failures += 1
            enter(.resting, until: now + rest)
            return .none
        case (.starting, .elapsed), (.ending, .elapsed):
            enter(.ending, until: now + Self.grace)
            return .kill
        case (.leaving, .elapsed):
            enter(.leaving, until: now + Self.grace)
            return .kill
        case (.resting, .elapsed):
            restarts += 1
            enter(.starting, until: now + Self.helloLimit)
            return .start
        case (.starting, .dismissed), (.ready, .dismissed), (.ending, .dismissed):
            enter(.leaving, until: now + Self.grace)
            return .leave
        case (.resting, .dismissed), (.leaving, .exited):
            enter(.gone, until: nil)
            return .none
        case (.gone, .wanted):
            failures = 0
            enter(.starting, until: now + Self.helloLimit)
            return .start
        default: return .none
        }
    }

    /// The wait before the next start: it doubles with each failure.
    public var rest: Int { min(longestRest, Self.firstRest << min(max(failures - 1, 0), 20)) }

    /// Forgets failures before a long time of work.
    private mutating func forgive(_ now: Int) {
        if stage == .ready, now - readySince >= Self.steady { failures = 0 }
    }

    private mutating func enter(_ stage: Stage, until deadline: Int?) {
        self.stage = stage
        self.deadline = deadline
    }
}
