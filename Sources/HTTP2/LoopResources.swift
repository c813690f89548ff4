/// What the sessions of one loop share that are the same side of their connections.
public final class LoopResources {
    /// Where fields of messages are put together before nghttp2 makes a copy: in use within one call alone.
    @exclusivity(unchecked) var fields = FieldList()
    /// Streams that have a wide window.
    private var wide = 0

    /// How many may have one at a time: what they may hold is bounded, however many ask for it.
    private static let mostWide = 8

    public init() {}

    /// - Returns: true where one more stream may have a wide window, until `endWide`.
    func beginWide() -> Bool {
        guard wide < Self.mostWide else { return false }
        wide += 1
        return true
    }

    func endWide() { wide -= 1 }
}
