internal import Synchronization

/// The limit that ended a match early.
public enum PatternLimit: String, Sendable {
    case steps, depth, memory
}

/// Counts, for all loops, how often an expression reached a limit, and reports it at most once a minute.
public final class PatternWatch: Sendable {
    /// The text in the configuration.
    public let written: String
    /// Its location in the configuration.
    public let place: String
    private let times = Atomic(0)
    /// The last limit reached, as its index among all limits.
    private let last = Atomic(0)
    /// The time of the next report.
    private let next = Atomic(Int.min)

    private static let kinds: [PatternLimit] = [.steps, .depth, .memory]
    /// The interval between reports, in milliseconds.
    static let interval = 60_000

    init(written: String, place: String) {
        self.written = written
        self.place = place
    }

    func count(_ limit: PatternLimit) {
        last.store(Self.kinds.firstIndex(of: limit) ?? 0, ordering: .relaxed)
        times.wrappingAdd(1, ordering: .relaxed)
    }

    /// The report that is due; nil if there is none, or if another loop has made it.
    /// - Parameter now: in milliseconds, of a clock shared by all loops.
    public func word(now: Int) -> String? {
        guard times.load(ordering: .relaxed) > 0 else { return nil }
        let due = next.load(ordering: .relaxed)
        guard now >= due,
            next.compareExchange(expected: due, desired: now + Self.interval, ordering: .relaxed).exchanged
        else { return nil }
        let count = times.exchange(0, ordering: .relaxed)
        let limit = Self.kinds[min(last.load(ordering: .relaxed), Self.kinds.count - 1)]
        let often = count == 1 ? "once" : "\(count) times"
        return
            "the pattern ~\(written) (\(place)) reached its limit of \(limit.rawValue) \(often); it was taken not to match"
    }
}
