/// The id of a step that waits for a person: short enough to type. Each page of a tree has its own id, so that nobody answers a
/// page that they have not read.
public struct TransactionID: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Letters and digits that cannot be confused.
    private static let alphabet = Array("23456789abcdefghjkmnpqrstuvwxyz")
    private static let length = 6

    /// - Returns: nil if the text is no id.
    public init?(_ text: some StringProtocol) {
        let lower = text.lowercased()
        guard lower.utf8.count == Self.length, lower.allSatisfy(Self.alphabet.contains) else { return nil }
        description = lower
    }

    init(using chance: inout some RandomNumberGenerator) {
        description = String((0..<Self.length).map { _ in Self.alphabet.randomElement(using: &chance) ?? "2" })
    }
}
