internal import Formats

/// All ways in which servers may read a parameter of a query or form. Servers differ in how often they decode it, where its name
/// ends, and how they map special characters.
struct ReadParameter {
    private(set) var names: Set<[UInt8]> = []
    private(set) var values: Set<[UInt8]> = []

    /// - Parameter written: a pair as received.
    init(_ written: some Collection<UInt8>) {
        let written = Self.unescaped(written)
        let once = PercentCoding.decodeBytes(written, plusAsSpace: true)
        // some servers split a pair before they decode it, some afterwards
        for text in Set([written, once, PercentCoding.decodeBytes(once, plusAsSpace: true)]) {
            let equals = text.firstIndex(of: 0x3D) ?? text.endIndex
            names.formUnion(Self.names(of: text[..<equals]))
            let value = PercentCoding.decodeBytes(text[equals...].dropFirst(), plusAsSpace: true)
            values.formUnion([value, Array(value.prefix { $0 != 0 })])
        }
    }

    /// The pairs of a query or form. Some servers also split at a semicolon.
    static func pairs(of text: [UInt8]) -> [ArraySlice<UInt8>] {
        text.split(separator: 0x26) + (text.contains(0x3B) ? text.split { $0 == 0x26 || $0 == 0x3B } : [])
    }

    /// All readings of a name.
    static func names(of written: some Collection<UInt8>) -> Set<[UInt8]> {
        let once = PercentCoding.decodeBytes(unescaped(written), plusAsSpace: true)
        return plainNames(of: once).union(plainNames(of: PercentCoding.decodeBytes(once, plusAsSpace: true)))
    }

    /// The text with up to two levels of encoding removed.
    static func decoded(_ written: some Collection<UInt8>) -> [UInt8] {
        guard written.contains(0x25) else { return Array(written) }
        let once = PercentCoding.decodeBytes(unescaped(written), plusAsSpace: false)
        return PercentCoding.decodeBytes(once, plusAsSpace: false)
    }

    private static func plainNames(of name: [UInt8]) -> Set<[UInt8]> {
        let core = trimmed(name)
        var found: Set = [name, core, asVariable(core)]
        // Rack strips brackets before it looks up the name
        for start in [core[...], core.drop(while: isBracket)] {
            let plain = Array(start.prefix { !isBracket($0) })
            found.formUnion([plain, asVariable(plain), Array(plain.prefix { $0 != 0x2E })])
        }
        return found
    }

    /// The name without surrounding white space, up to a NUL byte, as lenient readers take it.
    private static func trimmed(_ name: [UInt8]) -> [UInt8] {
        var core = name.drop { $0 <= ASCII.space || $0 == 0x3F }.prefix { $0 != 0 }
        while let last = core.last, last <= ASCII.space { core.removeLast() }
        return Array(core)
    }

    /// The variable name that PHP makes of it.
    private static func asVariable(_ name: [UInt8]) -> [UInt8] {
        name.map { $0 == ASCII.space || $0 == 0x2E || $0 == 0x5B ? 0x5F : $0 }
    }

    private static func isBracket(_ byte: UInt8) -> Bool { byte == 0x5B || byte == 0x5D }

    /// Decodes ASP.NET's `%u005f`, an underscore.
    private static func unescaped(_ written: some Collection<UInt8>) -> [UInt8] {
        let text = Array(written)
        guard text.contains(0x25) else { return text }
        var out: [UInt8] = []
        out.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if text[index] == 0x25, index + 5 < text.count, text.span.holds("u00", at: index + 1),
                let high = ASCII.hexValue(text[index + 4]), let low = ASCII.hexValue(text[index + 5])
            {
                out.append(high << 4 | low)
                index += 6
            } else {
                out.append(text[index])
                index += 1
            }
        }
        return out
    }
}
