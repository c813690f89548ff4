import Formats

/// A place on a server: a scheme, a host, a port, and a path with all that lies below it. `https://a.test/am` has
/// `https://a.test:443/am/x` in it, and neither `/ambush` nor `/am/../x`.
public struct URLPlace: Equatable, Sendable {
    private let scheme: Target.Scheme
    private let host: String
    private let port: UInt16
    /// Without a slash at its end.
    private let path: [UInt8]

    /// Nil if the text is no http or https URL.
    public init?(_ url: String) {
        guard let head = try? RequestHead(method: "GET", url: url) else { return nil }
        scheme = head.target.scheme
        host = head.host
        port = head.target.port
        var path = head.fields.bytes[head.target.path.indices][...]
        while path.last == 0x2F { path.removeLast() }
        self.path = Array(path)
    }

    /// Whether a request has this scheme, host and port.
    public func isOrigin(of head: RequestHead) -> Bool {
        head.target.scheme == scheme && head.target.port == port && head.host == host
    }

    /// Whether a request goes to this URL prefix in every reading of its path.
    public func holds(_ head: RequestHead) -> Bool {
        guard isOrigin(of: head) else { return false }
        let asked = head.target.path.isEmpty ? [0x2F] : Array(head.fields.bytes[head.target.path.indices])
        return PathReading.all(of: asked) { reading in
            let base = reading.applied(to: path)
            let rest = reading.applied(to: asked)
            return rest.starts(with: base) && (rest.count == base.count || rest[base.count] == 0x2F)
        }
    }
}

extension RequestHead {
    /// Scheme, host and port of the request as a URL begins with them; a port that is the scheme's own is left out.
    public var originText: String {
        let host = host.utf8.contains(ASCII.colon) ? "[\(host)]" : host
        let port = target.port == target.scheme.defaultPort ? "" : ":\(target.port)"
        return "\(target.scheme.name)://\(host)\(port)"
    }
}
