/// What was decided of interceptors for one exchange. Both phases and every attempt go by it, so that an interceptor takes an
/// exchange or leaves it, once and for all. Empty, and without memory of its own, where nothing had to be decided.
struct RuleMemory: Equatable, Sendable {
    private struct Entry: Equatable {
        /// Whether the rule takes the exchange; nil where that was not asked.
        var isTaken: Bool?
        /// It has been told that the rule's condition could not look at a body.
        var isWarned = false
    }

    private var entries: [Int: Entry] = [:]
    /// The places of its answers that it was given, by whoever counts them.
    private var turns: [ObjectIdentifier: Int] = [:]

    /// Whether the rule takes the exchange, as far as that is decided.
    func decision(on rule: Int) -> Bool? { entries[rule]?.isTaken }

    /// Decides it where nobody has.
    mutating func takes(_ rule: Int, _ sampler: Sampler, _ chance: inout some RandomNumberGenerator) -> Bool {
        if let decision = decision(on: rule) { return decision }
        let isTaken = sampler.takesNext(&chance)
        entries[rule, default: Entry()].isTaken = isTaken
        return isTaken
    }

    /// The place of the exchange's answer, the same however often it is asked for.
    mutating func turn(at counter: TurnCounter) -> Int {
        if let turn = turns[ObjectIdentifier(counter)] { return turn }
        let turn = counter.next()
        turns[ObjectIdentifier(counter)] = turn
        return turn
    }

    /// True the first time.
    mutating func mayWarn(of rule: Int) -> Bool {
        guard entries[rule]?.isWarned != true else { return false }
        entries[rule, default: Entry()].isWarned = true
        return true
    }
}
