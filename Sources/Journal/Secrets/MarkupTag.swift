internal import Formats

/// A tag of HTML or XML that begins an element, with its attributes, as ranges of the text.
struct MarkupTag {
    struct Attribute {
        var name: Range<Int>
        var value: Range<Int>
    }

    /// Without the prefix of its namespace.
    let localName: Range<Int>
    private(set) var attributes: [Attribute] = []
    /// It ends its element, too.
    private(set) var isEmpty = false
    /// Behind the tag.
    private(set) var end = 0

    /// Longer is none; nor has one more attributes.
    private static let longest = 64 << 10
    private static let mostAttributes = 4096

    /// - Parameter reached: up to where it was read, also where no tag begins.
    /// - Returns: nil where no such tag begins.
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
        // an address between angle brackets is no tag
        guard local < place else { return nil }
        localName = local..<place
        // `i<n;` begins none
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
            // nor does a comparison, whose words are no names
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
            // what was read is not read again from the next `<` in it
            if place >= limit || attributes.count == Self.mostAttributes {
                end = min(place, limit)
                return
            }
        }
        return nil
    }

    /// What stands in scripts, and in no attribute's name.
    private static func isForeign(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x22, 0x24, 0x26, 0x27, 0x2B, 0x2C, 0x3B, 0x3F, 0x60, 0x7B...0x7D: true
        default: false
        }
    }

    private static func isName(_ byte: UInt8) -> Bool { TextScan.isNameByte(byte) || byte == ASCII.colon }
}
