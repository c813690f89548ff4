import Addresses
import Formats

/// The limits of a head, in bytes unless noted otherwise.
public struct HeadLimits: Sendable {
    public var bytes: Int
    public var fields: Int
    public var target: Int

    public init(bytes: Int = 32 << 10, fields: Int = 128, target: Int = 16 << 10) {
        self.bytes = bytes
        self.fields = fields
        self.target = target
    }
}

public enum HTTPVersion: UInt8, Sendable {
    case http10, http11, http2

    /// `HTTP/1.1`, as start lines and `RFC 9110` §2.5 have it.
    public var text: StaticString {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2"
        }
    }
}

/// A request's start line and fields. One buffer holds all of its bytes; the ranges point into it.
public struct RequestHead: Sendable {
    public var fields = FieldTable()
    public internal(set) var method: Method = .other
    public internal(set) var methodRange: ByteRange = .empty
    public internal(set) var target = Target()
    public internal(set) var version: HTTPVersion = .http11

    public init() {}

    /// A request made here, in absolute form, with its Host field.
    /// - Throws: an `HTTPFault` when `url` is no absolute http or https URL.
    public init(method: String, url: String) throws(HTTPFault) {
        try setURL(url)
        setMethod(method)
        fields.add("Host", fields.text(target.authority))
    }

    /// Empties the head and keeps its buffers.
    mutating func removeAll() {
        fields.removeAll()
        method = .other
        methodRange = .empty
        target = Target()
        version = .http11
    }

    public var methodText: String { fields.text(methodRange) }
    public var targetText: String { fields.text(target.whole) }
    /// The host in its normal form: lower case, without port, brackets or a dot at its end.
    public var host: String { ASCII.lowercased(fields.text(target.host)) }
    /// `/` where the URL has no path.
    public var path: String { target.path.isEmpty ? "/" : fields.text(target.path) }
    public var query: String? { target.query.map(fields.text) }

    /// The absolute URL of the request, without a fragment, with scheme and host in their normal form and no port that is
    /// the scheme's own.
    public var url: String {
        let name = host
        let place = name.utf8.contains(ASCII.colon) ? "[\(name)]" : name
        if target.form == .authority { return "\(place):\(target.port)" }
        let port = target.port == target.scheme.defaultPort ? "" : ":\(target.port)"
        // OPTIONS * addresses the whole server, whose URL has no path (RFC 9112 §3.3)
        let rest = target.form == .asterisk ? "" : fields.text(target.pathAndQuery)
        return "\(target.scheme.name)://\(place)\(port)\(rest)"
    }

    public mutating func setMethod(_ text: String) {
        methodRange = fields.store(text)
        method = Method.identify(fields.bytes.span, methodRange.lower, methodRange.upper)
    }

    /// Points the request at another absolute URL.
    /// - Throws: an `HTTPFault` when `url` is no absolute http or https URL; the head is unchanged then.
    public mutating func setURL(_ url: String) throws(HTTPFault) {
        guard !url.isEmpty else { throw HTTPFault(.badTarget, at: 0) }
        let range = fields.store(url)
        let parsed = try TargetParser.parse(fields.bytes.span, range, method: .other)
        guard parsed.form == .absolute else { throw HTTPFault(.badTarget, at: 0) }
        target = parsed
        settleAddress()
    }

    /// Replaces path and query, keeping scheme and authority.
    /// - Throws: an `HTTPFault` when `text` would run into the authority or is no path and query; the head is unchanged
    ///   then.
    public mutating func setPathAndQuery(_ text: String) throws(HTTPFault) {
        guard text.isEmpty || text.utf8.first == 0x2F || text.utf8.first == 0x3F else {
            throw HTTPFault(.badTarget, at: 0)
        }
        let authority = fields.text(target.authority)
        try setURL("\(target.scheme.name)://\(authority)\(text)")
    }

    /// Sets the authority: from Host for origin form, from the tunnel's target inside CONNECT.
    /// - Throws: `badHost`, or the fault of the host, if `authority` is not `host[:port]`.
    public mutating func adopt(authority: some StringProtocol, scheme: Target.Scheme) throws(HTTPFault) {
        let range = fields.store(authority)
        try adopt(authority: range, scheme: scheme)
    }

    mutating func adopt(authority range: ByteRange, scheme: Target.Scheme) throws(HTTPFault) {
        var part = target
        part.scheme = scheme
        do {
            try TargetParser.parseAuthority(
                fields.bytes.span, range.lower, range.upper, into: &part, portRequired: false)
        } catch {
            throw error.inHost(range)
        }
        target = part
        settleAddress()
    }

    /// Replaces an IPv6 address by its canonical text (RFC 5952), so that all spellings are one host. The bytes sent on
    /// stay as they are.
    mutating func settleAddress() {
        let range = target.host
        guard range.lower > 0, fields.bytes[range.lower - 1] == 0x5B, let address = IPAddress(fields.text(range)),
            address.family == .v6
        else { return }
        let text = address.unmapped.description
        if !fields.equal(range, text) { target.host = fields.store(text) }
    }
}

extension HTTPFault {
    /// The same fault at its place in the Host field.
    func inHost(_ range: ByteRange) -> HTTPFault {
        switch code {
        case .percentInHost, .nonASCIIHost, .emptyLabel, .hostTooLong, .badAddress: self
        default: HTTPFault(.badHost, at: range.lower)
        }
    }
}

/// A response's status line and fields.
public struct ResponseHead: Sendable {
    public var fields = FieldTable()
    public internal(set) var status = 0
    public internal(set) var reasonRange: ByteRange = .empty
    public internal(set) var version: HTTPVersion = .http11

    public init() {}

    /// A response made here.
    public init(status: Int, reason: String) {
        self.status = status
        reasonRange = fields.store(reason)
    }

    /// Empties the head and keeps its buffers.
    mutating func removeAll() {
        fields.removeAll()
        status = 0
        reasonRange = .empty
        version = .http11
    }

    public var reason: String { fields.text(reasonRange) }

    /// 1xx but not 101: another head follows on the same connection (RFC 9110 §15.2).
    public var isInterim: Bool { status < 200 && status != 101 }

    public mutating func setStatus(_ status: Int, reason: String) {
        self.status = status
        reasonRange = fields.store(reason)
    }
}
