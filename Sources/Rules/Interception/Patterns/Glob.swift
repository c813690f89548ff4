internal import Formats

/// Text in which `*` matches any run of characters, including `/` and the empty run. There is no escape and no other special
/// character.
public enum Glob {
    /// True if the whole text matches. Takes at most time proportional to the product of both lengths, because only the last `*`
    /// is retried.
    /// - Parameter ignoringCase: ignores the case of ASCII letters.
    public static func matches(_ pattern: some StringProtocol, _ text: some StringProtocol, ignoringCase: Bool = false)
        -> Bool
    {
        matches(Array(pattern.utf8), Array(text.utf8), ignoringCase: ignoringCase)
    }

    /// The same for UTF-8 bytes.
    public static func matches(_ pattern: [UInt8], _ text: [UInt8], ignoringCase: Bool = false) -> Bool {
        matches(pattern, text.span, ignoringCase: ignoringCase)
    }

    static func matches(_ pattern: [UInt8], _ text: Span<UInt8>, ignoringCase: Bool) -> Bool {
        var inPattern = 0
        var inText = 0
        var afterStar: Int?
        var retry = 0
        while inText < text.count {
            if inPattern < pattern.count, pattern[inPattern] == star {
                inPattern += 1
                afterStar = inPattern
                retry = inText
            } else if inPattern < pattern.count, same(pattern[inPattern], text[inText], ignoringCase) {
                inPattern += 1
                inText += 1
            } else if let afterStar {
                inPattern = afterStar
                retry += 1
                inText = retry
            } else {
                return false
            }
        }
        while inPattern < pattern.count, pattern[inPattern] == star { inPattern += 1 }
        return inPattern == pattern.count
    }

    /// True if the text contains a `*`.
    public static func isGlob(_ text: some StringProtocol) -> Bool { text.utf8.contains(star) }

    private static let star: UInt8 = 0x2A

    private static func same(_ left: UInt8, _ right: UInt8, _ ignoringCase: Bool) -> Bool {
        ignoringCase ? ASCII.lower(left) == ASCII.lower(right) : left == right
    }
}
