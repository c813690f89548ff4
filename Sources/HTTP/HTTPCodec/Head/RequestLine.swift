import Formats

/// The ranges of the parts of a request line (RFC 9112 §3).
struct RequestLine {
    private let start: Int
    private let methodEnd: Int
    private let targetEnd: Int
    private let version: HTTPVersion
    /// The first byte of the target that may not stand there; its end where there is none.
    private let stop: Int
    /// The offset of the CR that ends the line.
    let end: Int

    /// The line that begins at `lower`, if it is one of those that nearly all are; nil for one that the other initializer has
    /// to look at, which finds the same parts.
    /// - Parameter count: so many bytes of the input may be looked at.
    @inline(__always)
    init?(plain input: Span<UInt8>, _ lower: Int, _ count: Int) {
        let methodEnd = input.near(lower, count) { $0.outsideNames }
        guard methodEnd > lower, methodEnd < count, input[methodEnd] == ASCII.space else { return nil }
        let targetEnd = input.first(methodEnd &+ 1, count) { $0.outsideTargets }
        let end = targetEnd &+ 9
        guard targetEnd > methodEnd &+ 1, end &+ 1 < count, input[targetEnd] == ASCII.space, input[end] == ASCII.cr,
            input[end &+ 1] == ASCII.lf, let version = HTTPVersion(plain: input, at: targetEnd &+ 1)
        else { return nil }
        start = lower
        self.methodEnd = methodEnd
        self.targetEnd = targetEnd
        self.version = version
        stop = targetEnd
        self.end = end
    }

    /// The line without its CRLF.
    init(_ input: Span<UInt8>, _ lower: Int, _ upper: Int, _ limits: HeadLimits) throws(HTTPFault) {
        var methodEnd = lower
        while methodEnd < upper, ASCII.isToken(input[methodEnd]) { methodEnd &+= 1 }
        guard methodEnd > lower, methodEnd < upper else { throw HTTPFault(.badRequestLine, at: lower) }
        guard input[methodEnd] == ASCII.space else { throw HTTPFault(.badMethod, at: methodEnd) }
        let targetStart = methodEnd + 1
        // where it is not a space that ends what a target may hold, the target is bad, unless something else is worse
        stop = input.first(targetStart, upper) { $0.outsideTargets }
        targetEnd =
            stop < upper && input[stop] == ASCII.space ? stop : input.first(stop, upper) { $0.equal(to: ASCII.space) }
        guard targetEnd > targetStart, targetEnd < upper else { throw HTTPFault(.badRequestLine, at: targetEnd) }
        guard targetEnd - targetStart <= limits.target else { throw HTTPFault(.targetTooLong, at: limits.target) }
        version = try HTTPVersion(input, targetEnd + 1, upper)
        guard targetEnd + 9 == upper else { throw HTTPFault(.badRequestLine, at: targetEnd) }
        start = lower
        self.methodEnd = methodEnd
        end = upper
    }

    /// Parses the target.
    @inline(__always)
    func read(_ input: Span<UInt8>, into head: inout RequestHead, _ limits: HeadLimits) throws(HTTPFault) {
        let target = ByteRange(start: methodEnd &+ 1, end: targetEnd)
        guard target.count <= limits.target else { throw HTTPFault(.targetTooLong, at: limits.target) }
        guard stop == targetEnd else { throw HTTPFault(.badTarget, at: stop) }
        let method = Method.identify(input, start, methodEnd)
        head.version = version
        head.target = try TargetParser.read(input, target, method: method)
        head.method = method
        head.methodRange = ByteRange(start: start, end: methodEnd)
    }
}

extension HTTPVersion {
    /// The version in the eight bytes from there on, of which so many are there; nil for none that is known.
    @inline(__always)
    init?(plain input: Span<UInt8>, at lower: Int) {
        let version = ByteWord(input, at: lower)
        if version == ByteWord("HTTP/1.1") {
            self = .http11
        } else if version == ByteWord("HTTP/1.0") {
            self = .http10
        } else {
            return nil
        }
    }

    /// - Throws: `badVersion`, at the byte that is none of the ones known.
    init(_ input: Span<UInt8>, _ lower: Int, _ upper: Int) throws(HTTPFault) {
        guard upper - lower >= 8 else { throw HTTPFault(.badVersion, at: lower) }
        if let version = HTTPVersion(plain: input, at: lower) {
            self = version
            return
        }
        let prefix: StaticString = "HTTP/1."
        for index in 0..<7 where input[lower + index] != prefix.utf8Start[index] {
            throw HTTPFault(.badVersion, at: lower + index)
        }
        throw HTTPFault(.badVersion, at: lower + 7)
    }
}
