public import Formats

/// What a configuration says, with what it leaves to the defaults, and without its secrets.
public struct EffectiveDocument: Sendable {
    private var root: YAMLNode?
    /// When it was read, in seconds since 1970.
    public let readAt: Int

    public init() {
        root = nil
        readAt = 0
    }

    init(_ root: YAMLNode, readAt: Int) {
        self.root = root
        self.readAt = readAt
    }

    /// Made when somebody asks: most never do, and a start has no time for it.
    public var value: JSONValue { root.map(Self.shown) ?? .object([]) }
}
