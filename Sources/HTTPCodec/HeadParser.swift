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
            // a request line that is too long by itself is told apart from a head that is
            let bound = min(lineStart + limits.target + 65, limits.bytes)
            guard let end = try nextLine(input, bound, limits, .badRequestLine) else { return nil }
            if end == lineStart, !skippedEmptyLine {
                // RFC 9112 §2.2: one empty line before a request is tolerated
                skippedEmptyLine = true
                lineStart = end + 2
                scanned = lineStart
                return try parse(input, into: &head, limits: limits)
            }
            head.removeAll()
            try Self.requestLine(input, lineStart, end, &head, limits)
            startFields(after: end)
        }
        return try fieldLines(input, into: &head.fields, limits)
    }

    /// The same for a response.
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
        while let end = try nextLine(input, limits.bytes, limits, .badFieldValue) {
            if end == lineStart {
                Self.take(input, upTo: end + 2, into: &fields)
                reset()
                return end + 2
            }
            guard fields.slots.count < limits.fields else { throw HTTPFault(.tooManyFields, at: lineStart) }
            fields.append(try Self.fieldLine(input, lineStart, end), first: input[lineStart])
            lineStart = end + 2
            scanned = lineStart
        }
        return nil
    }

    private static func take(_ input: Span<UInt8>, upTo end: Int, into fields: inout FieldTable) {
        let start = fields.bytes.count
        guard start < end else { return }
        input.extracting(start..<end).withUnsafeBufferPointer { fields.bytes.append(contentsOf: $0) }
    }

    /// One `name: value` line without its CRLF (RFC 9112 §5). Its bytes are already known to be no control characters.
    @inline(__always)
    private static func fieldLine(_ input: Span<UInt8>, _ lower: Int, _ upper: Int) throws(HTTPFault) -> FieldSlot {
        let colon = input.near(lower, upper) { $0.equal(to: ASCII.colon) }
        let known = FieldName.identify(input, lower, colon)
        if known == .other || colon == upper {
            let end = nameEnd(input, lower, colon, upper)
            guard end == colon, colon < upper, colon > lower else { throw nameFault(input, lower, end, upper) }
        }
        var start = colon + 1
        var end = upper
        // of what is no more than a space, a line holds SP and HTAB alone
        while start < end, input[start] <= ASCII.space { start &+= 1 }
        while end > start, input[end &- 1] <= ASCII.space { end &-= 1 }
        return FieldSlot(
            name: ByteRange(start: lower, end: colon), value: ByteRange(start: start, end: end), known: known)
    }

    /// The same for a line of trailers, away from the loop that reads chunks.
    @inline(never)
    static func trailerLine(_ input: Span<UInt8>, _ lower: Int, _ upper: Int) throws(HTTPFault) -> FieldSlot {
        try fieldLine(input, lower, upper)
    }

    /// Where the token that begins at `lower` ends, at the colon at the latest.
    private static func nameEnd(_ input: Span<UInt8>, _ lower: Int, _ colon: Int, _ upper: Int) -> Int {
        // in the whole line, which has more whole words than the name; the colon itself is outside names
        var end = input.first(lower, upper) { $0.outsideNames }
        while end < colon, ASCII.isToken(input[end]) { end &+= 1 }
        return end
    }

    /// What is wrong with the name of a line whose first token ends at `end`.
    private static func nameFault(_ input: Span<UInt8>, _ lower: Int, _ end: Int, _ upper: Int) -> HTTPFault {
        guard end < upper, input[end] == ASCII.space || input[end] == ASCII.tab else {
            return HTTPFault(.badFieldName, at: end)
        }
        return HTTPFault(end == lower ? .obsoleteFolding : .spaceBeforeColon, at: end)
    }

    private static func requestLine(
        _ input: Span<UInt8>, _ lower: Int, _ upper: Int, _ head: inout RequestHead, _ limits: HeadLimits
    ) throws(HTTPFault) {
        var methodEnd = lower
        while methodEnd < upper, ASCII.isToken(input[methodEnd]) { methodEnd &+= 1 }
        guard methodEnd > lower, methodEnd < upper else { throw HTTPFault(.badRequestLine, at: lower) }
        guard input[methodEnd] == ASCII.space else { throw HTTPFault(.badMethod, at: methodEnd) }
        let targetStart = methodEnd + 1
        // where it is not a space that ends what a target may hold, the target is bad, unless something else is worse
        let stop = input.first(targetStart, upper) { $0.outsideTargets }
        let targetEnd =
            stop < upper && input[stop] == ASCII.space ? stop : input.first(stop, upper) { $0.equal(to: ASCII.space) }
        guard targetEnd > targetStart, targetEnd < upper else { throw HTTPFault(.badRequestLine, at: targetEnd) }
        guard targetEnd - targetStart <= limits.target else { throw HTTPFault(.targetTooLong, at: limits.target) }
        head.version = try version(input, targetEnd + 1, upper)
        guard targetEnd + 9 == upper else { throw HTTPFault(.badRequestLine, at: targetEnd) }
        guard stop == targetEnd else { throw HTTPFault(.badTarget, at: stop) }
        let method = Method.identify(input, lower, methodEnd)
        head.target = try TargetParser.read(input, ByteRange(start: targetStart, end: targetEnd), method: method)
        head.method = method
        head.methodRange = ByteRange(start: lower, end: methodEnd)
    }

    private static func statusLine(
        _ input: Span<UInt8>, _ lower: Int, _ upper: Int, _ head: inout ResponseHead
    ) throws(HTTPFault) {
        guard upper - lower >= 12 else { throw HTTPFault(.badStatusLine, at: lower) }
        head.version = try version(input, lower, upper)
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

    private static func version(_ input: Span<UInt8>, _ lower: Int, _ upper: Int) throws(HTTPFault) -> HTTPVersion {
        guard upper - lower >= 8 else { throw HTTPFault(.badVersion, at: lower) }
        let version = ByteWord(input, at: lower)
        if version == ByteWord("HTTP/1.1") { return .http11 }
        if version == ByteWord("HTTP/1.0") { return .http10 }
        let prefix: StaticString = "HTTP/1."
        for index in 0..<7 where input[lower + index] != prefix.utf8Start[index] {
            throw HTTPFault(.badVersion, at: lower + index)
        }
        throw HTTPFault(.badVersion, at: lower + 7)
    }
}
