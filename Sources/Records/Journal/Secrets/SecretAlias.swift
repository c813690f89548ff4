/// The replacement of a secret, such as `session#3`.
public struct SecretAlias: Hashable, Sendable {
    public let kind: SecretKind
    public let number: UInt32

    public init(_ kind: SecretKind, _ number: UInt32) {
        self.kind = kind
        self.number = number
    }

    public var text: String { "\(kind.word)#\(number)" }
}

/// A secret and its alias, on the way to be stored encrypted.
public struct MetSecret: Sendable {
    public let alias: SecretAlias
    /// The secret as written at its first occurrence.
    public let bytes: [UInt8]
}

/// Returns a secret on any thread, also from the disk's store if that is given; nil if it is not stored, or no longer.
public typealias SecretSource = @Sendable (SecretAlias, (any FlowShelf)?) -> [UInt8]?
