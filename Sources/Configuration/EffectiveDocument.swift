public import Formats

/// What a configuration says, with what it leaves to the defaults, and without its secrets.
public struct EffectiveDocument: Sendable {
    public var value: JSONValue = .object([])
    /// When it was read, in seconds since 1970.
    public var readAt = 0

    public init() {}
}
