/// A JSON Pointer (RFC 6901), such as `/address/street` or `/items/0`. The empty pointer means the whole text.
public struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    /// The most tokens of a pointer. The reader itself accepts deeper texts.
    public static let mostTokens = 32

    public let description: String
    /// The tokens without escapes, as UTF-8.
    let tokens: [[UInt8]]

    /// - Returns: nil if the text does not begin with a slash, has a `~` without 0 or 1 behind it, or is too deep.
    public init?(_ text: String) {
        description = text
        guard !text.isEmpty else {
            tokens = []
            return
        }
        let parts = text.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        guard parts[0].isEmpty, parts.count <= Self.mostTokens + 1 else { return nil }
        var tokens: [[UInt8]] = []
        for part in parts.dropFirst() {
            guard let token = Self.unescaped(part) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    /// The tokens as texts.
    public var names: [String] { tokens.map { String(decoding: $0, as: UTF8.self) } }

    /// Whether the pointer means the whole text.
    public var isWhole: Bool { tokens.isEmpty }

    private static func unescaped(_ part: Substring.UTF8View) -> [UInt8]? {
        var token: [UInt8] = []
        var isEscaped = false
        for byte in part {
            if isEscaped {
                guard byte == 0x30 || byte == 0x31 else { return nil }
                token.append(byte == 0x30 ? 0x7E : 0x2F)
                isEscaped = false
            } else if byte == 0x7E {
                isEscaped = true
            } else {
                token.append(byte)
            }
        }
        return isEscaped ? nil : token
    }

    /// The array index of a token; nil if it is no number without leading zeros.
    static func index(_ token: [UInt8]) -> Int? {
        guard token.allSatisfy(ASCII.isDigit), token.count == 1 || token.first != 0x30 else { return nil }
        return Int(String(decoding: token, as: UTF8.self))
    }

    /// The token `-`, which means the place behind the last item of an array.
    static let end: [UInt8] = [0x2D]
}
