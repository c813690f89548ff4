/// A secret and its alias, on the way to be stored encrypted.
public struct MetSecret: Sendable {
    public let alias: SecretAlias
    /// The secret as written at its first occurrence.
    public let bytes: [UInt8]
}

/// Returns secrets to authorized callers, on any thread.
public protocol SecretKeeper: Sendable {
    /// - Parameter shelf: the disk's store, to search that as well.
    /// - Returns: nil if the secret is not stored, or no longer.
    func secret(_ alias: SecretAlias, _ shelf: (any FlowShelf)?) -> [UInt8]?
}
