internal import Formats
public import HTTPCodec

/// Cookies that one origin has set for one login, as a user agent keeps them (RFC 6265 §5.3).
public struct CookieJar: Sendable {
    public struct Cookie: Equatable, Sendable {
        public let name: String
        public let value: String
        /// Domain, path and secure, by which it is sent.
        let scope: CookieEdit
        /// The host that set it, where it is for nobody else.
        let host: String?
        /// Seconds since 1970; nil where it lasts as long as whoever keeps it.
        public let expires: Int?
    }

    /// What is sent with a request, and what is not.
    public struct Selection: Equatable, Sendable {
        public var pairs: [(name: String, value: String)] = []
        /// Why a cookie stays behind, each as a sentence's end with the cookie's name in it.
        public var withheld: [String] = []

        public static func == (left: Selection, right: Selection) -> Bool {
            left.withheld == right.withheld
                && left.pairs.elementsEqual(right.pairs) { $0.name == $1.name && $0.value == $1.value }
        }
    }

    /// More than a service has use for.
    static let most = 32
    static let longest = 8 << 10

    public private(set) var cookies: [Cookie] = []

    public init() {}

    public var isEmpty: Bool { cookies.isEmpty }
    public subscript(_ name: String) -> Cookie? { cookies.first { $0.name == name } }

    /// Takes over what a response sets and deletes.
    /// - Parameters:
    ///   - name: the only cookie that is looked at; nil for all.
    ///   - request: what is answered.
    ///   - now: seconds since 1970.
    public mutating func take(_ fields: FieldTable, only name: String? = nil, answering request: RequestHead, now: Int)
    {
        for line in fields.values(named: "Set-Cookie") {
            guard let set = HTTPCodec.SetCookie(line), name == nil || set.name == name else { continue }
            take(set, request, now)
        }
    }

    private mutating func take(_ set: HTTPCodec.SetCookie, _ request: RequestHead, _ now: Int) {
        let host = request.host
        // a domain that the host has no part in is a fault or worse (RFC 6265 §5.3)
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

    /// RFC 6265 §5.1.4.
    private static func folder(of path: String) -> String {
        let bytes = path.utf8
        guard bytes.first == 0x2F, let last = bytes.lastIndex(of: 0x2F), last > bytes.startIndex else { return "/" }
        return String(path[..<last])
    }

    /// - Parameter now: seconds since 1970.
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
