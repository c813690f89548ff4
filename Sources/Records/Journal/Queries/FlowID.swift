/// A flow's id for people: hexadecimal digits, as in `Usher-Flow` and the log.
public struct FlowID: Hashable, Sendable, CustomStringConvertible {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }

    /// - Returns: nil unless the text is 1 to 16 hexadecimal digits.
    public init?(_ text: some StringProtocol) {
        guard Self.isPart(text), let number = UInt64(text, radix: 16) else { return nil }
        self.number = number
    }

    public var description: String { String(number, radix: 16) }

    /// Whether a text may be the start or the end of an id.
    public static func isPart(_ text: some StringProtocol) -> Bool {
        (1...16).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
    }

    /// Whether the id starts or ends with this text.
    public func isNamed(_ part: String) -> Bool {
        let text = description
        return text.hasPrefix(part) || text.hasSuffix(part)
    }
}
