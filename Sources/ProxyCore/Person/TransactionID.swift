/// What a step that waits for a person is called: short enough to be typed. Each page of a tree has an id of its own, so that
/// nobody answers another page than the one that was read.
public struct TransactionID: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Letters and digits that nobody takes for one another.
    private static let alphabet = Array("23456789abcdefghjkmnpqrstuvwxyz")
    private static let length = 6

    /// - Returns: nil for what is none.
    public init?(_ text: some StringProtocol) {
        let lower = text.lowercased()
        guard lower.utf8.count == Self.length, lower.allSatisfy(Self.alphabet.contains) else { return nil }
        description = lower
    }

    init(using chance: inout some RandomNumberGenerator) {
        description = String((0..<Self.length).map { _ in Self.alphabet.randomElement(using: &chance) ?? "2" })
    }
}
