/// The numbers that were given last, so that they go on where another run left off and none is given twice.
public struct JournalCounters: Equatable, Sendable {
    /// Of flows.
    public var sequence = 0
    /// Of aliases, by the raw value of their kind.
    public var aliases = [UInt32](repeating: 0, count: SecretKind.allCases.count)

    public init() {}

    /// The higher of both in each.
    public func merged(with other: JournalCounters) -> JournalCounters {
        var merged = self
        merged.sequence = max(sequence, other.sequence)
        for (index, number) in other.aliases.enumerated() where aliases.indices.contains(index) {
            merged.aliases[index] = max(aliases[index], number)
        }
        return merged
    }
}
