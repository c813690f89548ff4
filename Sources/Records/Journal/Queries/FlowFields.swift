internal import Formats

/// Searches a message's fields in the stored flow without copies.
struct FlowFields {
    private let bytes: [UInt8]
    private let lines: Range<Int>

    /// - Parameter lines: lines of `name: value`, each with CR and LF.
    init(_ bytes: [UInt8], _ lines: Range<Int>) {
        self.bytes = bytes
        self.lines = lines
    }

    /// Whether `accepts` returns true for the value of a field with this name.
    /// - Parameter name: in lower case.
    func contains(_ name: [UInt8], where accepts: (Span<UInt8>) -> Bool) -> Bool {
        containsRange(name) { accepts(bytes.span.extracting($0)) }
    }

    /// The same with the value's range.
    func containsRange(_ name: [UInt8], where accepts: (Range<Int>) -> Bool) -> Bool {
        let span = bytes.span
        var start = lines.lowerBound
        while start < lines.upperBound {
            let end = span.first(start, lines.upperBound) { $0.equal(to: ASCII.lf) }
            let colon = start + name.count
            if colon < end, span[colon] == ASCII.colon, span.holds(text: name.span, at: start),
                accepts(Self.trimmed(bytes, colon + 1..<end))
            {
                return true
            }
            start = end + 1
        }
        return false
    }

    /// Visits the parts between separators until one is accepted.
    static func pairs(
        _ bytes: [UInt8], _ range: Range<Int>, at separator: UInt8, _ takes: (Range<Int>) -> Bool
    ) -> Bool {
        let span = bytes.span
        var start = range.lowerBound
        while start < range.upperBound {
            let end = span.near(start, range.upperBound) { $0.equal(to: separator) }
            if start < end, takes(start..<end) { return true }
            start = end + 1
        }
        return false
    }

    static func trimmed(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, isSpace(bytes[lower]) { lower += 1 }
        while lower < upper, isSpace(bytes[upper - 1]) { upper -= 1 }
        return lower..<upper
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == ASCII.space || byte == ASCII.tab || byte == ASCII.cr
    }

    static func equal(_ value: Span<UInt8>, _ text: [UInt8]) -> Bool {
        guard value.count == text.count else { return false }
        for index in text.indices where value[index] != text[index] { return false }
        return true
    }
}
