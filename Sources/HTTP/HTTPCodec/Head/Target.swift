import Formats

/// The parts of a request target (RFC 9112 §3.2), as offsets into the head's buffer.
public struct Target: Sendable {
    public enum Form: UInt8, Sendable { case absolute, authority, origin, asterisk }
    public enum Scheme: UInt8, Sendable {
        case http, https

        public var defaultPort: UInt16 { self == .http ? 80 : 443 }
        public var name: String { self == .http ? "http" : "https" }
    }

    public var form: Form = .origin
    public var scheme: Scheme = .http
    /// The whole target as it came.
    public var whole: ByteRange = .empty
    /// Host and port as written, brackets included, without an empty port. Empty in origin form.
    public var authority: ByteRange = .empty
    /// The host alone: without the brackets of an IPv6 address, without the dot that may end a name.
    public var host: ByteRange = .empty
    /// The port, the scheme's own where none is written. 0 in origin form.
    public var port: UInt16 = 0
    /// Path and query. Empty where the URL ends after the authority.
    public var pathAndQuery: ByteRange = .empty
    public var path: ByteRange = .empty
    /// Without the question mark; nil where there is none.
    public var query: ByteRange?

    public init() {}
}

enum TargetParser {
    /// Parses a request target.
    /// - Throws: `badTarget`, `unsupportedScheme`, and the errors of `HostReader`.
    static func parse(
        _ bytes: Span<UInt8>, _ range: ByteRange, method: Method
    ) throws(HTTPFault) -> Target {
        let fault = bytes.first(range.lower, range.upper) { $0.outsideTargets }
        guard fault == range.upper else { throw HTTPFault(.badTarget, at: fault) }
        return try read(bytes, range, method: method)
    }

    /// Parses a target whose characters were checked before.
    static func read(_ bytes: Span<UInt8>, _ range: ByteRange, method: Method) throws(HTTPFault) -> Target {
        var target = Target()
        target.whole = range
        let lower = range.lower
        let upper = range.upper
        if method == .connect {
            target.form = .authority
            target.scheme = .https
            try parseAuthority(bytes, lower, upper, into: &target, portRequired: true)
            return target
        }
        if bytes[lower] == 0x2F {
            target.form = .origin
            splitPath(bytes, lower, upper, into: &target)
            return target
        }
        if upper - lower == 1, bytes[lower] == 0x2A {
            guard method == .options else { throw HTTPFault(.badTarget, at: lower) }
            target.form = .asterisk
            target.pathAndQuery = range
            target.path = range
            return target
        }
        target.form = .absolute
        let start: Int
        (target.scheme, start) = try scheme(bytes, lower, upper)
        if let end = plainAuthority(bytes, start, upper, into: &target),
            end == upper || bytes[end] == 0x2F || bytes[end] == 0x3F
        {
            splitPath(bytes, end, upper, into: &target)
        } else {
            let end = bytes.near(start, upper) { $0.equal(to: 0x2F) | $0.equal(to: 0x3F) }
            try parseAuthority(bytes, start, end, into: &target, portRequired: false)
            splitPath(bytes, end, upper, into: &target)
        }
        return target
    }

    /// The scheme of an absolute URL, and where its authority begins.
    @inline(__always)
    private static func scheme(
        _ bytes: Span<UInt8>, _ lower: Int, _ upper: Int
    ) throws(HTTPFault) -> (Target.Scheme, authority: Int) {
        if upper - lower >= 7, bytes.holds("http://", at: lower) { return (.http, lower + 7) }
        return (.https, try otherScheme(bytes, lower, upper))
    }

    /// The start of the authority of an https URL.
    private static func otherScheme(_ bytes: Span<UInt8>, _ lower: Int, _ upper: Int) throws(HTTPFault) -> Int {
        var colon = bytes.first(lower, upper) { $0.outsideNames }
        while colon < upper, bytes[colon] != ASCII.colon {
            let byte = bytes[colon]
            guard ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2B || byte == 0x2D || byte == 0x2E else {
                throw HTTPFault(.badTarget, at: colon)
            }
            colon += 1
        }
        guard colon + 2 < upper, bytes[colon + 1] == 0x2F, bytes[colon + 2] == 0x2F else {
            throw HTTPFault(.badTarget, at: colon < upper ? colon : lower)
        }
        guard colon - lower == 5, bytes.holds("https", at: lower) else {
            throw HTTPFault(.unsupportedScheme, at: lower)
        }
        return colon + 3
    }

    /// Splits `name[:port]` where both are as they nearly always are.
    /// - Returns: where it ends; nil where `parseAuthority` has to look closer.
    @inline(__always)
    private static func plainAuthority(
        _ bytes: Span<UInt8>, _ lower: Int, _ upper: Int, into target: inout Target
    ) -> Int? {
        guard let name = HostReader.plainEnd(bytes, lower, upper) else { return nil }
        var end = name
        var port = Int(target.scheme.defaultPort)
        if name < upper, bytes[name] == ASCII.colon {
            port = 0
            end &+= 1
            // six digits are none of a port, and eighteen would fit
            while end < upper, end &- name <= 6, ASCII.isDigit(bytes[end]) {
                port = port &* 10 &+ Int(bytes[end] &- 0x30)
                end &+= 1
            }
            guard end &- name <= 6, port > 0, port < 65536 else { return nil }
        }
        target.host = HostReader.plainHost(bytes, lower, name)
        target.authority = ByteRange(start: lower, end: end)
        target.port = UInt16(truncatingIfNeeded: port)
        return end
    }

    /// Splits `host[:port]`, the Host field's form and CONNECT's.
    static func parseAuthority(
        _ bytes: Span<UInt8>, _ lower: Int, _ upper: Int, into target: inout Target, portRequired: Bool
    ) throws(HTTPFault) {
        guard lower < upper else { throw HTTPFault(.badAuthority, at: lower) }
        let (host, end) =
            bytes[lower] == 0x5B
            ? try HostReader.address(bytes, lower, upper) : try HostReader.name(bytes, lower, upper)
        target.host = host
        target.authority = ByteRange(start: lower, end: upper)
        if end == upper {
            if portRequired { throw HTTPFault(.badAuthority, at: upper) }
            target.port = target.scheme.defaultPort
            return
        }
        guard bytes[end] == ASCII.colon else { throw HTTPFault(.badAuthority, at: end) }
        if end + 1 == upper, !portRequired {
            // an empty port is the scheme's own, and best left out with its colon (RFC 3986 §3.2.3)
            target.authority = ByteRange(start: lower, end: end)
            target.port = target.scheme.defaultPort
            return
        }
        target.port = try parsePort(bytes, end + 1, upper)
    }

    private static func parsePort(_ bytes: Span<UInt8>, _ lower: Int, _ upper: Int) throws(HTTPFault) -> UInt16 {
        guard lower < upper, upper - lower <= 5 else {
            // "user:password@host" reads as a bad port; name the real cause
            for index in lower..<upper where bytes[index] == 0x40 { throw HTTPFault(.userInfoInTarget, at: index) }
            throw HTTPFault(.badAuthority, at: lower)
        }
        var port = 0
        for index in lower..<upper {
            if bytes[index] == 0x40 { throw HTTPFault(.userInfoInTarget, at: index) }
            guard ASCII.isDigit(bytes[index]) else { throw HTTPFault(.badAuthority, at: index) }
            port = port &* 10 &+ Int(bytes[index] &- 0x30)
        }
        guard port > 0, port < 65536 else { throw HTTPFault(.badAuthority, at: lower) }
        return UInt16(port)
    }

    static func splitPath(
        _ bytes: Span<UInt8>, _ lower: Int, _ upper: Int, into target: inout Target
    ) {
        target.pathAndQuery = ByteRange(start: lower, end: upper)
        let question = bytes.first(lower, upper) { $0.equal(to: 0x3F) }
        target.path = ByteRange(start: lower, end: question)
        if question < upper { target.query = ByteRange(start: question + 1, end: upper) }
    }
}
