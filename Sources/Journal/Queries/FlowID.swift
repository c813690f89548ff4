/// A flow's id as people see it: hexadecimal digits, as `Usher-Flow` and the log have it.
public struct FlowID: Hashable, Sendable, CustomStringConvertible {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }

    /// - Returns: nil for anything but 1 to 16 hexadecimal digits.
    public init?(_ text: some StringProtocol) {
        guard Self.isPart(text), let number = UInt64(text, radix: 16) else { return nil }
        self.number = number
    }

    public var description: String { String(number, radix: 16) }

    /// Whether a text may be the beginning or the end of one.
    public static func isPart(_ text: some StringProtocol) -> Bool {
        (1...16).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
    }

    /// Whether that is its beginning or its end.
    public func isNamed(_ part: String) -> Bool {
        let text = description
        return text.hasPrefix(part) || text.hasSuffix(part)
    }
}
