/// A secret and what stands in its place, on the way to whoever seals it.
public struct MetSecret: Sendable {
    public let alias: SecretAlias
    /// As it was written where it was met first.
    public let bytes: [UInt8]
}

/// Gives secrets back, to whoever may have them. From any thread.
public protocol SecretKeeper: Sendable {
    /// - Parameter shelf: of the disk, where that is asked as well.
    /// - Returns: nil for what is not held, or no longer.
    func secret(_ alias: SecretAlias, _ shelf: (any FlowShelf)?) -> [UInt8]?
}
