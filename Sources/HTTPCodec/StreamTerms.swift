/// What the peer of a connection said of the streams that may be begun there.
public struct StreamTerms: Equatable, Sendable {
    /// How many there may be at a time.
    public var maxStreams: Int
    /// An Upgrade may go in one (RFC 8441).
    public var takesUpgrades: Bool

    public init(maxStreams: Int, takesUpgrades: Bool = false) {
        self.maxStreams = maxStreams
        self.takesUpgrades = takesUpgrades
    }
}
