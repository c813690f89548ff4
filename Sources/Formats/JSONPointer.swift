/// A place in a JSON text (RFC 6901): `/address/street`, `/items/0`; the empty one is the whole text.
public struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    /// It may lead so deep, which is less deep than what is read.
    public static let mostTokens = 32

    public let description: String
    /// The names on the way, without their escapes, as UTF-8.
    let tokens: [[UInt8]]

    /// - Returns: nil for what does not begin with a slash, has a `~` with neither 0 nor 1 behind it, or leads too deep.
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

    /// The same as texts.
    public var names: [String] { tokens.map { String(decoding: $0, as: UTF8.self) } }

    /// True for the one that means the whole text.
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

    /// Which item of an array a token means; nil where it is no number without leading zeros.
    static func index(_ token: [UInt8]) -> Int? {
        guard token.allSatisfy(ASCII.isDigit), token.count == 1 || token.first != 0x30 else { return nil }
        return Int(String(decoding: token, as: UTF8.self))
    }

    /// The token that means the place behind an array's last item.
    static let end: [UInt8] = [0x2D]
}
