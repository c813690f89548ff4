internal import Formats

/// A start tag of HTML or XML with its attributes, as ranges of the text.
struct MarkupTag {
    struct Attribute {
        var name: Range<Int>
        var value: Range<Int>
    }

    /// The name without a namespace prefix.
    let localName: Range<Int>
    private(set) var attributes: [Attribute] = []
    /// True for a self-closing tag.
    private(set) var isEmpty = false
    /// The position after the tag.
    private(set) var end = 0

    /// The limits of a tag in bytes and attributes.
    private static let longest = 64 << 10
    private static let mostAttributes = 4096

    /// - Parameter reached: set to the end of the text that was read, also without a tag.
    /// - Returns: nil if no start tag begins here.
    init?(_ text: [UInt8], at start: Int, _ reached: inout Int) {
        guard start + 1 < text.count, ASCII.isAlpha(text[start + 1]) else { return nil }
        let limit = min(text.count, start + Self.longest)
        var place = start + 1
        defer { reached = place }
        var local = place
        while place < limit, Self.isName(text[place]) {
            if text[place] == ASCII.colon { local = place + 1 }
            place += 1
        }
        // an address in angle brackets is no tag
        guard local < place else { return nil }
        localName = local..<place
        // neither is `i<n;`
        guard place < limit, TextScan.isSpace(text[place]) || text[place] == 0x2F || text[place] == 0x3E else {
            return nil
        }
        while place < limit {
            while place < limit, TextScan.isSpace(text[place]) || text[place] == 0x2F { place += 1 }
            guard place < limit, text[place] != 0x3C else { return nil }
            if text[place] == 0x3E {
                isEmpty = text[place - 1] == 0x2F
                end = place + 1
                return
            }
            let begin = place
            while place < limit, !TextScan.isSpace(text[place]), ![0x2F, 0x3D, 0x3E, 0x3C].contains(text[place]) {
                place += 1
            }
            // neither is a comparison, whose words are no attribute names
            guard place > begin, !text[begin..<place].contains(where: Self.isForeign) else { return nil }
            let name = begin..<place
            while place < limit, TextScan.isSpace(text[place]) { place += 1 }
            guard place < limit, text[place] == 0x3D else { continue }
            place += 1
            while place < limit, TextScan.isSpace(text[place]) { place += 1 }
            guard place < limit else { return nil }
            let value: Range<Int>
            if TextScan.isQuote(text[place]) {
                let close = text[(place + 1)..<limit].firstIndex(of: text[place]) ?? limit
                value = (place + 1)..<close
                place = close + 1
            } else {
                let begin = place
                while place < limit, !TextScan.isSpace(text[place]), text[place] != 0x3E { place += 1 }
                value = begin..<place
            }
            attributes.append(Attribute(name: name, value: value))
            // so that it is not scanned again from a later `<`
            if place >= limit || attributes.count == Self.mostAttributes {
                end = min(place, limit)
                return
            }
        }
        return nil
    }

    /// True for bytes of scripts that no attribute name contains.
    private static func isForeign(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x22, 0x24, 0x26, 0x27, 0x2B, 0x2C, 0x3B, 0x3F, 0x60, 0x7B...0x7D: true
        default: false
        }
    }

    private static func isName(_ byte: UInt8) -> Bool { TextScan.isNameByte(byte) || byte == ASCII.colon }
}
