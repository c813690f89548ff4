/// What is noted of secrets while flows are taken in, where they are to be kept sealed.
struct SecretNotes: Sendable {
    /// Those that have an alias since the last look.
    private(set) var met: [MetSecret] = []
    /// Those that stand in the flow that is being taken in: an alias that somebody else wrote there stands for nothing.
    private(set) var used: Set<SecretAlias> = []

    mutating func note(_ alias: SecretAlias) { used.insert(alias) }

    mutating func note(_ alias: SecretAlias, is bytes: some Collection<UInt8>) {
        met.append(MetSecret(alias: alias, bytes: Array(bytes)))
    }

    mutating func beginFlow() { used = [] }

    mutating func takeMet() -> [MetSecret] {
        defer { met = [] }
        return met
    }
}
