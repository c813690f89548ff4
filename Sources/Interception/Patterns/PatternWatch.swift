internal import Synchronization

/// What ends a match before it is decided.
public enum PatternLimit: String, Sendable {
    case steps, depth, memory
}

/// Counts, for all loops, how often an expression reached a limit, and says so at most once a minute.
public final class PatternWatch: Sendable {
    /// As the configuration has it.
    public let written: String
    /// Where it stands there.
    public let place: String
    private let times = Atomic(0)
    /// Of the last time, as its place among all limits.
    private let last = Atomic(0)
    /// When the next word may be said.
    private let next = Atomic(Int.min)

    private static let kinds: [PatternLimit] = [.steps, .depth, .memory]
    /// Between two words, in milliseconds.
    static let interval = 60_000

    init(written: String, place: String) {
        self.written = written
        self.place = place
    }

    func count(_ limit: PatternLimit) {
        last.store(Self.kinds.firstIndex(of: limit) ?? 0, ordering: .relaxed)
        times.wrappingAdd(1, ordering: .relaxed)
    }

    /// The word that is due; nil where there is none, or where another loop has said it.
    /// - Parameter now: milliseconds of a clock that all loops share.
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
