/// The decisions of samplers and counters for one exchange. All phases and attempts share them, so that an interceptor either
/// takes an exchange or does not. Empty, without an allocation, if nothing was decided.
struct RuleMemory: Equatable, Sendable {
    private struct Entry: Equatable {
        /// Whether the rule takes the exchange; nil if undecided.
        var isTaken: Bool?
        /// Whether a warning was issued that the condition could not read a body.
        var isWarned = false
    }

    private var entries: [Int: Entry] = [:]
    /// The index of the exchange's response for each counter.
    private var turns: [ObjectIdentifier: Int] = [:]

    /// Whether the rule takes the exchange, if decided.
    func decision(on rule: Int) -> Bool? { entries[rule]?.isTaken }

    /// Decides if no decision was made before.
    mutating func takes(_ rule: Int, _ sampler: Sampler, _ chance: inout some RandomNumberGenerator) -> Bool {
        if let decision = decision(on: rule) { return decision }
        let isTaken = sampler.takesNext(&chance)
        entries[rule, default: Entry()].isTaken = isTaken
        return isTaken
    }

    /// The index of the exchange's response, the same at every call.
    mutating func turn(at counter: ResponseSequence) -> Int {
        if let turn = turns[ObjectIdentifier(counter)] { return turn }
        let turn = counter.next()
        turns[ObjectIdentifier(counter)] = turn
        return turn
    }

    /// True at the first call.
    mutating func mayWarn(of rule: Int) -> Bool {
        guard entries[rule]?.isWarned != true else { return false }
        entries[rule, default: Entry()].isWarned = true
        return true
    }
}
