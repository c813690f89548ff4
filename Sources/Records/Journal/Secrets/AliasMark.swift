internal import Formats

/// The form of an alias during redaction: a word with a random prefix of this process. Clients cannot forge it, and no encoding
/// changes its letters.
enum AliasMark {
    private static let sign: [UInt8] = [0x5A] + (0..<20).map { _ in UInt8.random(in: 0x67...0x7A) }
    private static let search = ByteSearch(sign)
    /// The prefix, one digit for the kind and eight for the number.
    private static let count = sign.count + 9

    static func write(_ alias: SecretAlias, to out: inout [UInt8]) {
        out += sign
        out.append(digit(UInt32(alias.kind.rawValue)))
        for shift in stride(from: UInt32(28), through: 0, by: -4) { out.append(digit(alias.number >> shift & 15)) }
    }

    private static func digit(_ value: UInt32) -> UInt8 { UInt8(value < 10 ? 0x30 + value : 0x61 - 10 + value) }

    static func isWhole(_ value: some Collection<UInt8>) -> Bool { value.count == count && value.starts(with: sign) }

    private static func alias(_ text: ArraySlice<UInt8>) -> SecretAlias? {
        guard text.count >= count, let first = ASCII.hexValue(text[text.startIndex + sign.count]),
            let kind = SecretKind(rawValue: first)
        else { return nil }
        let number = text.prefix(count).dropFirst(sign.count + 1).reduce(UInt32(0)) {
            $0 << 4 | UInt32(ASCII.hexValue($1) ?? 0)
        }
        return SecretAlias(kind, number)
    }

    /// The text with readable aliases. Client text that looks like an alias gets another `#`.
    static func settled(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var out: [UInt8] = []
        var rest = text
        while let place = search.next(in: rest.span).map({ $0 + rest.startIndex }), let alias = alias(rest[place...]) {
            out += AliasEscape.escaped(rest[..<place])
            out += alias.text.utf8
            rest = rest[(place + count)...]
        }
        return rest.startIndex == text.startIndex ? AliasEscape.escaped(text) : out + AliasEscape.escaped(rest)
    }
}
