internal import Addresses
internal import Formats
internal import HTTPCodec

/// Another HTTP proxy for requests (`destinations.via`). It is a class, so that a pool's key stays small.
public final class UpstreamProxy: Sendable {
    /// The host in lower case, without brackets.
    public let host: String
    public let port: UInt16
    /// The line of `Proxy-Authorization` with its line end (RFC 7617 §2); empty for none. No text shows it.
    let credentials: [UInt8]

    public convenience init(host: String, port: UInt16) { self.init(host: host, port: port, credentials: []) }

    private init(host: String, port: UInt16, credentials: [UInt8]) {
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// Reads `http://user:password@host:port`. User, password and port are optional, and may be percent-encoded. Nil for any
    /// other text.
    public convenience init?(_ url: String) {
        guard ASCII.lowercased(url.prefix(7)) == "http://" else { return nil }
        var authority = url.dropFirst(7)
        if authority.hasSuffix("/") { authority = authority.dropLast() }
        var credentials: [UInt8] = []
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let user = PercentCoding.decodeBytes(parts[0].utf8, plusAsSpace: false)
            let password = parts.count > 1 ? PercentCoding.decodeBytes(parts[1].utf8, plusAsSpace: false) : []
            // a colon in the user would move into the password (RFC 7617 §2)
            guard !user.contains(ASCII.colon), (user + password).allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                return nil
            }
            credentials = Array(
                "Proxy-Authorization: Basic \(Base64.encode(user + [ASCII.colon] + password))\r\n".utf8)
            authority = authority[authority.index(after: at)...]
        }
        guard let head = try? RequestHead(method: "GET", url: "http://\(authority)"),
            head.target.pathAndQuery.isEmpty, !IPAddress.isLookalike(head.host)
        else { return nil }
        self.init(host: head.host, port: head.target.port, credentials: credentials)
    }
}

extension UpstreamProxy: Hashable {
    public static func == (left: UpstreamProxy, right: UpstreamProxy) -> Bool {
        left === right || left.port == right.port && left.host == right.host && left.credentials == right.credentials
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
    }
}

extension UpstreamProxy: CustomStringConvertible {
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The way to an origin through another proxy.
public enum Route: Hashable, Sendable {
    /// Asks the proxy for the whole URL (absolute-form, RFC 9112 §3.2.2).
    case forward(UpstreamProxy)
    /// Has the proxy open a tunnel to the origin (CONNECT, RFC 9110 §9.3.6).
    case tunnel(UpstreamProxy)

    public var proxy: UpstreamProxy {
        switch self {
        case .forward(let proxy), .tunnel(let proxy): proxy
        }
    }
}
