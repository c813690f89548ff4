import Formats

/// Encodings that no standard allows and some servers accept: overlong UTF-8 such as `%c0%ae` (RFC 3629 §10), and `%u002e`
/// of old scripts. Usher does not decode them: a path with one is ambiguous.
enum OddEncoding {
    /// - Parameter path: without its percent-encoding.
    static func isIn(_ path: [UInt8]) -> Bool {
        path.indices.contains { isOverlong(path, $0) || isScriptEscape(path, $0) }
    }

    /// Whether a byte starts an overlong UTF-8 sequence, including old forms of five and six bytes. Such a byte alone is a
    /// Latin-1 letter.
    private static func isOverlong(_ path: [UInt8], _ index: Int) -> Bool {
        guard index + 1 < path.count else { return false }
        switch path[index] {
        case 0xC0, 0xC1: return (0x80...0xBF).contains(path[index + 1])
        case 0xE0: return (0x80...0x9F).contains(path[index + 1])
        case 0xF0: return (0x80...0x8F).contains(path[index + 1])
        case 0xF8: return (0x80...0x87).contains(path[index + 1])
        case 0xFC: return (0x80...0x83).contains(path[index + 1])
        default: return false
        }
    }

    private static func isScriptEscape(_ path: [UInt8], _ index: Int) -> Bool {
        guard path[index] == 0x25, index + 5 < path.count, path[index + 1] | 0x20 == 0x75 else { return false }
        return path[index + 2...index + 5].allSatisfy { ASCII.hexValue($0) != nil }
    }
}
