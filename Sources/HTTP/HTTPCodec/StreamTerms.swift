/// The peer's terms for streams on a connection.
public struct StreamTerms: Equatable, Sendable {
    /// The most streams at a time.
    public var maxStreams: Int
    /// An Upgrade may go in one (RFC 8441).
    public var takesUpgrades: Bool

    public init(maxStreams: Int, takesUpgrades: Bool = false) {
        self.maxStreams = maxStreams
        self.takesUpgrades = takesUpgrades
    }
}
