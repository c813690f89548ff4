import Formats

/// Reads one head, whole or in pieces. Always hand it the bytes from the head's first one on: it remembers how far it
/// came, so pieces cost no more than the whole.
///
/// Nothing is repaired: a bare CR or LF, folding, a space before the colon, an empty or impossible name are faults
/// (RFC 9112 §2.2, §5.1, §5.2).
public struct HeadParser: Sendable {
    private var lineStart = 0
    private var scanned = 0
    private var inFields = false
    private var skippedEmptyLine = false

    public init() {}

    public mutating func reset() { self = HeadParser() }

    /// Whatever comes of it, `head` can be read afterwards: it holds all complete lines before the end or the fault.
    /// - Returns: how many bytes the head took, or nil while it is incomplete.
    /// - Throws: `HTTPFault` with the offset of the byte that broke a rule.
    public mutating func parse(
        _ input: Span<UInt8>, into head: inout RequestHead, limits: HeadLimits
    ) throws(HTTPFault) -> Int? {
        if !inFields {
            // a long request line is a fault of its own, besides a long head
            let bound = min(lineStart + limits.target + 65, limits.bytes)
            let line: RequestLine
            if scanned == lineStart, let plain = RequestLine(plain: input, lineStart, min(input.count, bound)) {
                line = plain
            } else {
                guard let end = try nextLine(input, bound, limits, .badRequestLine) else { return nil }
                if end == lineStart, !skippedEmptyLine {
                    // RFC 9112 §2.2: one empty line before a request is tolerated
                    skippedEmptyLine = true
                    lineStart = end + 2
                    scanned = lineStart
                    return try parse(input, into: &head, limits: limits)
                }
                head.removeAll()
                line = try RequestLine(input, lineStart, end, limits)
            }
            head.removeAll()
            try line.read(input, into: &head, limits)
            startFields(after: line.end)
        }
        return try fieldLines(input, into: &head.fields, limits)
    }

    /// Parses the head of a response.
    public mutating func parse(
        _ input: Span<UInt8>, into head: inout ResponseHead, limits: HeadLimits
    ) throws(HTTPFault) -> Int? {
        if !inFields {
            guard let end = try nextLine(input, limits.bytes, limits, .badStatusLine) else { return nil }
            head.removeAll()
            try Self.statusLine(input, lineStart, end, &head)
            startFields(after: end)
        }
        return try fieldLines(input, into: &head.fields, limits)
    }

    private mutating func startFields(after end: Int) {
        lineStart = end + 2
        scanned = lineStart
        inFields = true
    }

    /// The offset of the CR that ends the line at `lineStart`, or nil while the line is incomplete. No byte beyond the
    /// bound is looked at, so that the fault is the same in whatever pieces the bytes come.
    @inline(__always)
    private mutating func nextLine(
        _ input: Span<UInt8>, _ bound: Int, _ limits: HeadLimits, _ fault: HTTPFault.Code
    ) throws(HTTPFault) -> Int? {
        let count = min(input.count, bound)
        var index = input.first(scanned, count) { $0.controls }
        search: while index < count {
            switch input[index] {
            case ASCII.cr:
                guard index + 1 < count else { break search }
                guard input[index + 1] == ASCII.lf else { throw HTTPFault(.bareCarriageReturn, at: index) }
                return index
            case ASCII.tab: index = input.first(index + 1, count) { $0.controls }
            case ASCII.lf: throw HTTPFault(.bareLineFeed, at: index)
            default: throw HTTPFault(fault, at: index)
            }
        }
        scanned = index
        return try unfinished(count, bound, limits)
    }

    private func unfinished(_ count: Int, _ bound: Int, _ limits: HeadLimits) throws(HTTPFault) -> Int? {
        guard count >= bound else { return nil }
        if bound < limits.bytes { throw HTTPFault(.targetTooLong, at: limits.target) }
        throw HTTPFault(.headTooLarge, at: limits.bytes)
    }

    private mutating func fieldLines(
        _ input: Span<UInt8>, into fields: inout FieldTable, _ limits: HeadLimits
    ) throws(HTTPFault) -> Int? {
        // the slots point into the table's own bytes, so these must never lag behind them
        defer { if inFields { Self.take(input, upTo: lineStart, into: &fields) } }
        while true {
            var outcome = Outcome.incomplete
            // between two pieces of a head the limits may have come down
            try fields.fill(max(0, min(Self.batch, limits.fields &- fields.count))) { slots, marks throws(HTTPFault) in
                outcome = try readLines(input, into: &slots, &marks, limits)
            }
            switch outcome {
            case .incomplete: return nil
            case .full:
                guard fields.count < limits.fields else { throw HTTPFault(.tooManyFields, at: lineStart) }
            case .whole(let end):
                Self.take(input, upTo: end, into: &fields)
                reset()
                return end
            }
        }
    }

    /// The result of parsing some lines.
    private enum Outcome {
        /// The next one has not come whole.
        case incomplete
        /// There is no room for the next one.
        case full
        /// The head is here, and ends there.
        case whole(Int)
    }

    /// Fields for which there is room at once; few heads have more.
    private static let batch = 16

    @inline(__always)
    private mutating func readLines(
        _ input: Span<UInt8>, into slots: inout OutputSpan<FieldSlot>, _ marks: inout FieldMarks, _ limits: HeadLimits
    ) throws(HTTPFault) -> Outcome {
        let count = min(input.count, limits.bytes)
        while true {
            let line: (colon: Int, end: Int)
            if scanned == lineStart, let plain = Self.plainLine(input, lineStart, count) {
                line = plain
            } else {
                guard let end = try nextLine(input, limits.bytes, limits, .badFieldValue) else { return .incomplete }
                if end == lineStart { return .whole(end + 2) }
                if slots.isFull { return .full }
                line = (try Self.colon(input, lineStart, end), end)
            }
            if slots.isFull { return .full }
            let slot = Self.slot(input, lineStart, line.colon, line.end)
            slots.append(slot)
            marks.insert(slot.known, count: Int(slot.name.count), first: input[lineStart])
            lineStart = line.end + 2
            scanned = lineStart
        }
    }

    /// The colon and the end of the line at `lower`, if it is one of those that nearly all are: nil for one that has to be
    /// looked at once more, of which the same would be found.
    /// - Parameter count: so many bytes of the input may be looked at.
    @inline(__always)
    private static func plainLine(_ input: Span<UInt8>, _ lower: Int, _ count: Int) -> (colon: Int, end: Int)? {
        let colon = input.near(lower, count) { $0.outsideNames }
        guard colon > lower, colon < count, input[colon] == ASCII.colon else { return nil }
        let end = input.first(colon &+ 1, count) { $0.controls }
        guard end &+ 1 < count, input[end] == ASCII.cr, input[end &+ 1] == ASCII.lf else { return nil }
        return (colon, end)
    }

    private static func take(_ input: Span<UInt8>, upTo end: Int, into fields: inout FieldTable) {
        let start = fields.bytes.count
        guard start < end else { return }
        fields.bytes.append(addingCapacity: end - start) { $0.append(input.extracting(start..<end)) }
    }

    /// The colon in a `name: value` line without its CRLF (RFC 9112 §5). Its bytes are already known to be no control
    /// characters.
    @inline(never)
    private static func colon(_ input: Span<UInt8>, _ lower: Int, _ upper: Int) throws(HTTPFault) -> Int {
        var end = lower
        while end < upper, ASCII.isToken(input[end]) { end &+= 1 }
        if end < upper {
            if input[end] == ASCII.colon, end > lower { return end }
            if input[end] == ASCII.space || input[end] == ASCII.tab {
                throw HTTPFault(end == lower ? .obsoleteFolding : .spaceBeforeColon, at: end)
            }
        }
        throw HTTPFault(.badFieldName, at: end)
    }

    /// The ranges before and behind the colon.
    @inline(__always)
    private static func slot(_ input: Span<UInt8>, _ lower: Int, _ colon: Int, _ upper: Int) -> FieldSlot {
        let known = FieldName.identify(input, lower, colon)
        var start = colon + 1
        var end = upper
        // bytes up to a space can only be SP and HTAB here
        while start < end, input[start] <= ASCII.space { start &+= 1 }
        while end > start, input[end &- 1] <= ASCII.space { end &-= 1 }
        return FieldSlot(
            name: ByteRange(start: lower, end: colon), value: ByteRange(start: start, end: end), known: known)
    }

    /// A line of trailers, away from the loop that reads chunks.
    @inline(never)
    static func trailerLine(_ input: Span<UInt8>, _ lower: Int, _ upper: Int) throws(HTTPFault) -> FieldSlot {
        slot(input, lower, try colon(input, lower, upper), upper)
    }

    private static func statusLine(
        _ input: Span<UInt8>, _ lower: Int, _ upper: Int, _ head: inout ResponseHead
    ) throws(HTTPFault) {
        guard upper - lower >= 12 else { throw HTTPFault(.badStatusLine, at: lower) }
        head.version = try HTTPVersion(input, lower, upper)
        guard input[lower + 8] == ASCII.space else { throw HTTPFault(.badStatusLine, at: lower + 8) }
        var status = 0
        for index in lower + 9..<lower + 12 {
            guard ASCII.isDigit(input[index]) else { throw HTTPFault(.badStatusLine, at: index) }
            status = status * 10 + Int(input[index] - 0x30)
        }
        guard status >= 100, status < 600 else { throw HTTPFault(.badStatusLine, at: lower + 9) }
        // the space before an empty reason is often left out; nothing hangs on it
        if upper - lower > 12, input[lower + 12] != ASCII.space { throw HTTPFault(.badStatusLine, at: lower + 12) }
        head.status = status
        head.reasonRange = ByteRange(start: min(lower + 13, upper), end: upper)
    }
}
