internal import Formats

/// Finds secrets by their form, wherever they occur.
public enum SecretShape {
    /// The minimum length of a JWT: a header and some more.
    private static let shortestToken = 20
    private static let shortestSession = 32
    /// The limit in bytes of what precedes `AAJTSQ`, the start of the second part of every AM session.
    private static let longestSign = 12

    /// Whether a text contains such a secret.
    public static func isIn(_ bytes: [UInt8]) -> Bool {
        var place = 0
        while place < bytes.count {
            let end = endOfWord(bytes, place)
            if find(in: bytes, at: place, end) != nil { return true }
            place = end
        }
        return false
    }

    /// The end of the word, URL escape or single byte at this place. Secrets start at such boundaries.
    static func endOfWord(_ text: [UInt8], _ start: Int) -> Int {
        if text[start] == 0x25, start + 3 <= text.count {
            // `%3F`, and `%253F`
            var end = start + 1
            while end + 4 <= text.count, text[end] == 0x32, text[end + 1] == 0x35 { end += 2 }
            return end + 2
        }
        let bytes = text.span
        var end = bytes.near(start, bytes.count) { $0.outsideNames }
        while end < bytes.count, bytes[end] == 0x5F { end = bytes.near(end + 1, bytes.count) { $0.outsideNames } }
        return max(end, start + 1)
    }

    /// The kind and length of a JWT or AM session that starts here.
    /// - Parameter end: the end of the word that starts here.
    static func find(in bytes: [UInt8], at start: Int, _ end: Int) -> (kind: SecretKind, count: Int)? {
        switch bytes[start] {
        case 0x65 where begins(bytes, start, "eyJ"): token(bytes, start)
        case 0x41 where begins(bytes, start, "AQIC"): session(bytes, start)
        default: isSigned(bytes, end) ? session(bytes, start) : nil
        }
    }

    private static func begins(_ bytes: [UInt8], _ start: Int, _ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        return start + count <= bytes.count && (0..<count).allSatisfy { bytes[start + $0] == word.utf8Start[$0] }
    }

    /// Whether a word is followed by `*AAJTSQ`, with up to two dots of padding between.
    private static func isSigned(_ bytes: [UInt8], _ end: Int) -> Bool {
        var place = end
        while place < bytes.count, bytes[place] == 0x2E, place - end < 2 { place += 1 }
        guard place < bytes.count, bytes[place] == 0x2A || bytes[place] == 0x25 else { return false }
        // `%2A`, encoded once or more
        let isEncoded = bytes[place] == 0x25
        while isEncoded, place < bytes.count, bytes[place] | 0x20 != 0x61 {
            guard place - end < longestSign, bytes[place] == 0x25 || ASCII.isDigit(bytes[place]) else { return false }
            place += 1
        }
        return begins(bytes, place + 1, "AAJTSQ")
    }

    /// A JWT (RFC 7515 §3.1 and RFC 7516 §3.1): three or five parts of base64url, or a truncated one.
    private static func token(_ bytes: [UInt8], _ start: Int) -> (kind: SecretKind, count: Int)? {
        var end = start
        var dots = 0
        while end < bytes.count, isBase64URL(bytes[end]) || bytes[end] == 0x2E {
            if bytes[end] == 0x2E { dots += 1 }
            end += 1
        }
        return dots >= 1 && end - start >= shortestToken ? (.token, end - start) : nil
    }

    /// An AM session `AQIC…*AAJTSQ…*`, stateless or not, encoded or not.
    private static func session(_ bytes: [UInt8], _ start: Int) -> (kind: SecretKind, count: Int)? {
        var end = start
        while end < bytes.count, isBase64URL(bytes[end]) || [0x2E, 0x2A, 0x25].contains(bytes[end]) { end += 1 }
        return end - start >= shortestSession ? (.session, end - start) : nil
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F
    }
}
