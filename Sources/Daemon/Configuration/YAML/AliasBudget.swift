internal import Formats

/// Limits the expansion of YAML aliases before they are followed: a few hundred bytes of nested anchors can stand for gigabytes.
///
/// The text is not parsed. Anything that looks like an anchor or an alias counts as one. An anchor's value is assumed to extend to
/// its first alias. So the estimate is never too low.
enum AliasBudget {
    /// The bytes that the aliases of a text may stand for. Files written by people stay far below.
    static let limit = 16 << 20

    static func isKept(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var anchors: [[UInt8]: Int] = [:]
        // for each anchor, the bytes that an alias to it stands for, up to its first use
        var weights: [[UInt8]: Int] = [:]
        var aliasBytes = 0
        var aliasBytesAtAnchor: [[UInt8]: Int] = [:]
        var index = 0
        while index < bytes.count {
            let mark = bytes[index]
            guard mark == 0x26 || mark == 0x2A, startsToken(bytes, index) else {
                index += 1
                continue
            }
            var end = index + 1
            while end < bytes.count, isNameByte(bytes[end]) { end += 1 }
            let name = Array(bytes[(index + 1)..<end])
            if !name.isEmpty {
                if mark == 0x26 {
                    anchors[name] = index
                    aliasBytesAtAnchor[name] = aliasBytes
                    weights[name] = nil
                } else if let start = anchors[name] {
                    let weight = weights[name] ?? (index - start) + aliasBytes - (aliasBytesAtAnchor[name] ?? 0)
                    weights[name] = weight
                    aliasBytes += weight
                    if aliasBytes > limit { return false }
                }
            }
            index = end
        }
        return true
    }

    /// An indicator counts only where a value may begin.
    private static func startsToken(_ bytes: [UInt8], _ index: Int) -> Bool {
        guard index > 0 else { return true }
        return [0x20, 0x09, 0x0A, 0x0D, 0x5B, 0x7B, 0x2C, 0x3A].contains(bytes[index - 1])
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F
    }
}
