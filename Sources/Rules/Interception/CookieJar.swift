internal import Formats
public import HTTPCodec

/// The cookies that one origin has set for one login, stored as a user agent does (RFC 6265 §5.3).
public struct CookieJar: Sendable {
    public struct Cookie: Equatable, Sendable {
        public let name: String
        public let value: String
        /// The domain, path and secure attributes that decide when the cookie is sent.
        let scope: CookieEdit
        /// The host that set a host-only cookie; else nil.
        let host: String?
        /// In seconds since 1970; nil for a session cookie, which lives as long as the jar.
        public let expires: Int?
    }

    /// The cookies to send with a request, and the ones withheld.
    public struct Selection: Equatable, Sendable {
        public var pairs: [(name: String, value: String)] = []
        /// The reason for each withheld cookie, as the end of a sentence with the cookie's name.
        public var withheld: [String] = []

        public static func == (left: Selection, right: Selection) -> Bool {
            left.withheld == right.withheld
                && left.pairs.elementsEqual(right.pairs) { $0.name == $1.name && $0.value == $1.value }
        }
    }

    /// The largest number of cookies.
    static let most = 32
    static let longest = 8 << 10

    public private(set) var cookies: [Cookie] = []

    public init() {}

    public var isEmpty: Bool { cookies.isEmpty }
    public subscript(_ name: String) -> Cookie? { cookies.first { $0.name == name } }

    /// Applies the Set-Cookie fields of a response.
    /// - Parameters:
    ///   - name: the only cookie to consider; nil for all.
    ///   - request: the request of the response.
    ///   - now: in seconds since 1970.
    public mutating func take(_ fields: FieldTable, only name: String? = nil, answering request: RequestHead, now: Int)
    {
        for line in fields.values(named: "Set-Cookie") {
            guard let set = HTTPCodec.SetCookie(line), name == nil || set.name == name else { continue }
            take(set, request, now)
        }
    }

    private mutating func take(_ set: HTTPCodec.SetCookie, _ request: RequestHead, _ now: Int) {
        let host = request.host
        // the host must be within the cookie's domain (RFC 6265 §5.3)
        if let domain = set.domain, !CookieScope.covers(domain, host) { return }
        let scope = CookieEdit(
            name: set.name, value: set.value, domain: set.domain, path: set.path ?? Self.folder(of: request.path),
            secure: set.isSecure)
        guard (try? scope.check()) != nil, set.name.utf8.count + set.value.utf8.count <= Self.longest else { return }
        let index = cookies.firstIndex {
            $0.name == set.name && $0.scope.path == scope.path && $0.scope.domain == scope.domain
        }
        if let index { cookies.remove(at: index) }
        let expires =
            set.maxAge.map { now + min(max($0, 0), Self.decade) }
            ?? set.expires.flatMap { CalendarTime.seconds(ofHTTP: $0, now: now) }
        if set.deletes || expires.map({ $0 <= now }) == true || cookies.count >= Self.most { return }
        cookies.append(
            Cookie(
                name: set.name, value: set.value, scope: scope, host: set.domain == nil ? host : nil, expires: expires))
    }

    private static let decade = 10 * 366 * 86400

    /// The default path of a cookie (RFC 6265 §5.1.4).
    private static func folder(of path: String) -> String {
        let bytes = path.utf8
        guard bytes.first == 0x2F, let last = bytes.lastIndex(of: 0x2F), last > bytes.startIndex else { return "/" }
        return String(path[..<last])
    }

    /// - Parameter now: in seconds since 1970.
    public func selection(for request: RequestHead, now: Int) -> Selection {
        var selection = Selection()
        for cookie in cookies where cookie.expires.map({ $0 > now }) ?? true {
            if let host = cookie.host, host != request.host {
                selection.withheld.append("\(cookie.name) stays behind: it is for the host \(host) alone")
            } else if let reason = CookieScope.refusal(cookie.scope, for: request) {
                selection.withheld.append("\(cookie.name) stays behind: \(reason)")
            } else {
                selection.pairs.append((cookie.name, cookie.value))
            }
        }
        return selection
    }
}
