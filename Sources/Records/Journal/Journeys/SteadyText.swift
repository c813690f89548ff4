internal import Formats

/// Makes texts of two recordings comparable: aliases are renumbered in order of appearance, and ids, times and long numbers are
/// replaced by stand-ins.
public struct SteadyText {
    private var names: [SecretAlias: String] = [:]
    private var counts: [SecretKind: Int] = [:]

    public init() {}

    public mutating func steady(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var out: [UInt8] = []
        var end = 0
        for place in AliasScan(bytes).places {
            out += Self.withoutChance(bytes[end..<place.range.lowerBound])
            out += name(place.alias).utf8
            end = place.range.upperBound
        }
        return String(decoding: out + Self.withoutChance(bytes[end...]), as: UTF8.self)
    }

    private mutating func name(_ alias: SecretAlias) -> String {
        if let name = names[alias] { return name }
        counts[alias.kind, default: 0] += 1
        let name = "\(alias.kind.word)#\(counts[alias.kind, default: 0])"
        names[alias] = name
        return name
    }

    // MARK: words that differ by chance

    /// Replaces words that differ by chance. A word has letters, digits, and the punctuation of ids and times.
    private static func withoutChance(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        var rest = text
        while !rest.isEmpty {
            var word = rest.prefix(while: isPart)
            // punctuation at the end belongs to the sentence
            while let last = word.last, !ASCII.isAlpha(last), !ASCII.isDigit(last) { word.removeLast() }
            if word.isEmpty {
                out.append(rest[rest.startIndex])
                rest = rest.dropFirst()
            } else {
                out += replacement(word).map { Array($0.utf8) } ?? Array(word)
                rest = rest[word.endIndex...]
            }
        }
        return out
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || [0x2D, 0x3A, 0x2E, 0x5F].contains(byte)
    }

    private static let longestNumber = 9
    private static let shortestHex = 16

    private static func replacement(_ word: ArraySlice<UInt8>) -> String? {
        if isUUID(word) { return "<id>" }
        if isTime(word) { return "<time>" }
        let digits = word.count { ASCII.isDigit($0) }
        if digits == word.count { return digits > longestNumber ? "<number>" : nil }
        let isHex = digits > 0 && word.allSatisfy { ASCII.hexValue($0) != nil }
        return isHex && word.count >= shortestHex ? "<id>" : nil
    }

    /// RFC 9562 §4.
    private static func isUUID(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count == 36 else { return false }
        return word.enumerated().allSatisfy { index, byte in
            [8, 13, 18, 23].contains(index) ? byte == 0x2D : ASCII.hexValue(byte) != nil
        }
    }

    /// RFC 3339 §5.6: `2026-11-21T09:25:00` with any rest, or a date alone.
    private static func isTime(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count >= 10 else { return false }
        let isDate = word.prefix(10).enumerated().allSatisfy { index, byte in
            [4, 7].contains(index) ? byte == 0x2D : ASCII.isDigit(byte)
        }
        return isDate && (word.count == 10 || word[word.startIndex + 10] | 0x20 == 0x74)
    }
}
