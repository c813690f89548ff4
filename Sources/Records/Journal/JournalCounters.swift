/// The last numbers used, so that a new run continues without repeating one.
public struct JournalCounters: Equatable, Sendable {
    /// Of flows.
    public var sequence = 0
    /// Of aliases, by the raw value of their kind.
    public var aliases = [UInt32](repeating: 0, count: SecretKind.allCases.count)

    public init() {}

    /// The higher of each pair.
    public func merged(with other: JournalCounters) -> JournalCounters {
        var merged = self
        merged.sequence = max(sequence, other.sequence)
        for (index, number) in other.aliases.enumerated() where aliases.indices.contains(index) {
            merged.aliases[index] = max(aliases[index], number)
        }
        return merged
    }
}
