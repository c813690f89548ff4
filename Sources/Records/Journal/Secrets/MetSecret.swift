/// A secret and its alias, on the way to be stored encrypted.
public struct MetSecret: Sendable {
    public let alias: SecretAlias
    /// The secret as written at its first occurrence.
    public let bytes: [UInt8]
}

/// Returns a secret on any thread, also from the disk's store if that is given; nil if it is not stored, or no longer.
public typealias SecretSource = @Sendable (SecretAlias, (any FlowShelf)?) -> [UInt8]?
