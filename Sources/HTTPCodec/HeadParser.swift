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
            guard let end = try nextLine(input, limits) else { return nil }
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
            guard let end = try nextLine(input, limits, startFault: .badStatusLine) else { return nil }
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
    /// limit is looked at, so that the fault is the same in whatever pieces the bytes come.
    private mutating func nextLine(
        _ input: Span<UInt8>, _ limits: HeadLimits, startFault: HTTPFault.Code = .badRequestLine
    ) throws(HTTPFault) -> Int? {
        // a request line that is too long by itself is told apart from a head that is
        let startLimit = lineStart + limits.target + 65
        let bound = inFields || startFault == .badStatusLine ? limits.bytes : min(startLimit, limits.bytes)
        let count = min(input.count, bound)
        var index = scanned
        while index < count {
            let byte = input[index]
            if byte < 0x20 || byte == 0x7F {
                switch byte {
                case ASCII.tab: break
                case ASCII.lf: throw HTTPFault(.bareLineFeed, at: index)
                case ASCII.cr:
                    guard index + 1 < count else {
                        scanned = index
                        return try unfinished(count, bound, limits)
                    }
                    guard input[index + 1] == ASCII.lf else { throw HTTPFault(.bareCarriageReturn, at: index) }
                    return index
                default: throw HTTPFault(inFields ? .badFieldValue : startFault, at: index)
                }
            }
            index &+= 1
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
        while let end = try nextLine(input, limits) {
            if end == lineStart {
                Self.take(input, upTo: end + 2, into: &fields)
                reset()
                return end + 2
            }
            guard fields.slots.count < limits.fields else { throw HTTPFault(.tooManyFields, at: lineStart) }
            fields.slots.append(try Self.fieldLine(input, lineStart, end))
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
    static func fieldLine(_ input: Span<UInt8>, _ lower: Int, _ upper: Int) throws(HTTPFault) -> FieldSlot {
        var colon = lower
        while colon < upper, ASCII.isToken(input[colon]) { colon &+= 1 }
        guard colon < upper, input[colon] == ASCII.colon, colon > lower else {
            if lower < upper, input[lower] == ASCII.space || input[lower] == ASCII.tab {
                throw HTTPFault(.obsoleteFolding, at: lower)
            }
            if colon > lower, colon < upper, input[colon] == ASCII.space || input[colon] == ASCII.tab {
                throw HTTPFault(.spaceBeforeColon, at: colon)
            }
            throw HTTPFault(.badFieldName, at: min(colon, upper))
        }
        var start = colon + 1
        var end = upper
        while start < end, input[start] == ASCII.space || input[start] == ASCII.tab { start &+= 1 }
        while end > start, input[end - 1] == ASCII.space || input[end - 1] == ASCII.tab { end &-= 1 }
        return FieldSlot(
            name: ByteRange(start: lower, end: colon), value: ByteRange(start: start, end: end),
            known: FieldName.identify(input, lower, colon))
    }

    private static func requestLine(
        _ input: Span<UInt8>, _ lower: Int, _ upper: Int, _ head: inout RequestHead, _ limits: HeadLimits
    ) throws(HTTPFault) {
        var methodEnd = lower
        while methodEnd < upper, ASCII.isToken(input[methodEnd]) { methodEnd &+= 1 }
        guard methodEnd > lower, methodEnd < upper else { throw HTTPFault(.badRequestLine, at: lower) }
        guard input[methodEnd] == ASCII.space else { throw HTTPFault(.badMethod, at: methodEnd) }
        let targetStart = methodEnd + 1
        var targetEnd = targetStart
        while targetEnd < upper, input[targetEnd] != ASCII.space { targetEnd &+= 1 }
        guard targetEnd > targetStart, targetEnd < upper else { throw HTTPFault(.badRequestLine, at: targetEnd) }
        guard targetEnd - targetStart <= limits.target else { throw HTTPFault(.targetTooLong, at: limits.target) }
        head.version = try version(input, targetEnd + 1, upper)
        guard targetEnd + 9 == upper else { throw HTTPFault(.badRequestLine, at: targetEnd) }
        let method = Method.identify(input, lower, methodEnd)
        head.target = try TargetParser.parse(input, ByteRange(start: targetStart, end: targetEnd), method: method)
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
        let prefix: StaticString = "HTTP/1."
        guard upper - lower >= 8 else { throw HTTPFault(.badVersion, at: lower) }
        for index in 0..<7 where input[lower + index] != prefix.utf8Start[index] {
            throw HTTPFault(.badVersion, at: lower + index)
        }
        switch input[lower + 7] {
        case 0x31: return .http11
        case 0x30: return .http10
        default: throw HTTPFault(.badVersion, at: lower + 7)
        }
    }
}
