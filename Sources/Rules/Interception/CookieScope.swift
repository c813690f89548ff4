internal import Addresses
internal import Formats
internal import HTTPCodec

/// Decides whether a cookie may be sent with a request (RFC 6265 §5.1.3, §5.1.4, §5.4).
enum CookieScope {
    /// The reason why the cookie is not sent; nil if it is.
    static func refusal(_ cookie: CookieEdit, for head: RequestHead) -> String? {
        let host = head.host
        if let domain = cookie.domain.map(normalised), !domain.isEmpty, !covers(domain, host) {
            return "its domain \(domain) does not cover the host \(host)"
        }
        if let path = cookie.path, path.utf8.first == 0x2F, !admits(path, head.path) {
            return "its path \(path) does not admit the request's path"
        }
        if cookie.secure, head.target.scheme != .https { return "it is secure and the request is not https" }
        return nil
    }

    /// Removes a leading dot (RFC 6265 §5.2.3) and the brackets of an address.
    private static func normalised(_ domain: String) -> String {
        let name = domain.filter { $0 != "[" && $0 != "]" }
        return HostName.normalized(name.hasPrefix(".") ? name.dropFirst() : name[...])
    }

    /// Domain matching (RFC 6265 §5.1.3). An address has no subdomains.
    static func covers(_ domain: String, _ host: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix(".\(domain)") && !isAddress(host)
    }

    private static func isAddress(_ host: String) -> Bool {
        host.utf8.contains(ASCII.colon) || host.utf8.allSatisfy { ASCII.isDigit($0) || $0 == 0x2E }
    }

    /// Path matching (RFC 6265 §5.1.4).
    static func admits(_ cookiePath: String, _ path: String) -> Bool {
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        return path.utf8.count == cookiePath.utf8.count || cookiePath.utf8.last == 0x2F
            || path.utf8.dropFirst(cookiePath.utf8.count).first == 0x2F
    }
}
