internal import Formats

/// Searches a body for names that a server may read as a method override: part names of a form, or member names of JSON. It takes
/// the body in pieces and finds names that span them.
public struct MethodSearch: Sendable {
    private let isJSON: Bool
    /// The end of the previous pieces.
    private var tail: [UInt8] = []

    /// Limit of a relevant name in bytes, with all its escapes.
    private static let longest = 256
    private static let kept = 4 * longest

    init(json isJSON: Bool) { self.isJSON = isJSON }

    /// - Returns: true if a name is found in the new piece or across its start.
    public mutating func finds(_ piece: Span<UInt8>) -> Bool {
        tail.append(piece)
        let text = Self.squeezed(tail)
        tail = Array(text.suffix(Self.kept))
        return Self.count(in: text, json: isJSON) > 0
    }

    /// The count of names in a whole body.
    static func count(_ body: [UInt8], json isJSON: Bool) -> Int { count(in: squeezed(body), json: isJSON) }

    private static func count(in text: [UInt8], json isJSON: Bool) -> Int {
        isJSON ? text.indices.count { isMember(text, $0) } : text.indices.count { isPart(text, $0) }
    }

    /// Replaces white space and control characters by one space, so that distant names come close.
    private static func squeezed(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte > ASCII.space { out.append(byte) } else if out.last != ASCII.space { out.append(ASCII.space) }
        }
        return out
    }

    // MARK: members

    /// Whether a member's name begins at this quotation mark.
    private static func isMember(_ text: [UInt8], _ start: Int) -> Bool {
        guard text[start] == 0x22 else { return false }
        var end = start + 1
        while end < text.count, text[end] != 0x22 {
            end += text[end] == 0x5C ? 2 : 1
            if end - start > longest { return false }
        }
        guard end < text.count, text[(end + 1)...].first(where: { $0 != ASCII.space }) == 0x3A,
            text[start..<end].contains(0x5C) || HiddenRequest.mayName(text[start..<end]),
            let name = try? JSONValue(parsing: Array(text[start...end])).text
        else { return false }
        return HiddenRequest.isParameter(named: Array(name.utf8))
    }

    // MARK: parts

    /// Whether a part's name begins here in the view of some reader.
    private static func isPart(_ text: [UInt8], _ start: Int) -> Bool {
        var rest: ArraySlice<UInt8>
        switch ASCII.lower(text[start]) {
        case 0x6E:
            guard let behind = after("name", text, start) else { return false }
            rest = skip(behind, [ASCII.space])
            if rest.first == 0x2A {
                rest = skip(rest, [0x2A, ASCII.space])
                // a name in pieces (RFC 2231 §3)
                if let digit = rest.first, ASCII.isDigit(digit) { return true }
            }
            guard rest.first == 0x3D else { return false }
        case 0x63:
            guard let behind = after("content-id", text, start) else { return false }
            rest = skip(behind, [ASCII.space])
            guard rest.first == 0x3A else { return false }
        default: return false
        }
        rest = skip(rest.dropFirst(), Array(" \"'<\\".utf8))
        // an encoded word (RFC 2047)
        if rest.starts(with: "=?".utf8) { return true }
        let name = rest.prefix(longest).prefix { !" \";>".utf8.contains($0) }.filter { $0 != 0x5C }
        // after the charset and the language (RFC 8187)
        let pieces = name.split(separator: 0x27, omittingEmptySubsequences: false)
        return pieces.contains { HiddenRequest.isParameter(named: $0) }
    }

    /// The text after the word; nil if the word does not start here or is the end of another.
    private static func after(_ word: StaticString, _ text: [UInt8], _ start: Int) -> ArraySlice<UInt8>? {
        let end = start + word.utf8CodeUnitCount
        guard end <= text.count, text.span.holds(word, at: start) else { return nil }
        if start > 0, ASCII.isAlpha(text[start - 1]) || [0x2D, 0x5F].contains(text[start - 1]) { return nil }
        return text[end...]
    }

    private static func skip(_ text: ArraySlice<UInt8>, _ bytes: [UInt8]) -> ArraySlice<UInt8> {
        text.drop(while: bytes.contains)
    }
}
