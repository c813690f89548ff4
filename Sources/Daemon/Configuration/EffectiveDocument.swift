public import Formats

/// The effective configuration with its defaults and without its secrets.
public struct EffectiveDocument: Sendable {
    private var root: YAMLNode?
    /// The time of loading, in seconds since 1970.
    public let readAt: Int

    public init() {
        root = nil
        readAt = 0
    }

    init(_ root: YAMLNode, readAt: Int) {
        self.root = root
        self.readAt = readAt
    }

    /// Computed on demand, because it is rarely used and would slow the start.
    public var value: JSONValue { root.map(Self.shown) ?? .object([]) }
}
