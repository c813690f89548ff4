/// IP addresses as text, in the spellings that leave no doubt: nil for anything else. 4 or 16 bytes in network order.
enum IPLiteral {
    /// `192.0.2.1`: four numbers, no shorthand.
    static func four(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let parts = text.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let bytes = parts.compactMap { decimal($0, atMost: 255).map(UInt8.init) }
        return bytes.count == 4 ? bytes : nil
    }

    /// RFC 4291 §2.2, without a zone.
    static func six(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let words = String(decoding: text, as: UTF8.self)
        guard words.utf8.count <= 45, words.utf8.allSatisfy({ ASCII.hexValue($0) != nil || $0 == 0x3A || $0 == 0x2E })
        else { return nil }
        let halves = splitAtDoubleColon(words)
        guard halves.count <= 2, let head = groups(halves[0], endsAddress: halves.count == 1),
            let tail = halves.count == 2 ? groups(halves[1], endsAddress: true) : []
        else { return nil }
        if halves.count == 1 { return head.count == 16 ? head : nil }
        guard head.count + tail.count <= 14 else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func splitAtDoubleColon(_ text: String) -> [Substring] {
        var parts: [Substring] = []
        var start = text.startIndex
        var index = text.startIndex
        while index < text.endIndex {
            let next = text.index(after: index)
            if text[index] == ":", next < text.endIndex, text[next] == ":" {
                parts.append(text[start..<index])
                start = text.index(after: next)
                index = start
            } else {
                index = next
            }
        }
        parts.append(text[start...])
        return parts
    }

    /// - Parameter endsAddress: the last group may be an IPv4 address, which stands at the very end alone.
    private static func groups(_ text: Substring, endsAddress: Bool) -> [UInt8]? {
        if text.isEmpty { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if part.utf8.contains(0x2E) {
                guard endsAddress, index == parts.count - 1, let last = four(Array(part.utf8)[...]) else { return nil }
                bytes += last
            } else {
                guard (1...4).contains(part.utf8.count), let value = UInt16(part, radix: 16) else { return nil }
                bytes += [UInt8(value >> 8), UInt8(value & 255)]
            }
        }
        return bytes
    }

    /// Plain decimal, no leading zero, at most five digits: a number has one spelling here.
    static func decimal(_ digits: ArraySlice<UInt8>, atMost limit: Int) -> Int? {
        guard (1...5).contains(digits.count), digits.allSatisfy(ASCII.isDigit) else { return nil }
        guard digits.count == 1 || digits.first != 0x30 else { return nil }
        let value = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return value <= limit ? value : nil
    }
}
