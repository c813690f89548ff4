public import HTTPCodec
public import Interception

/// Where a server is: its scheme, host and port, and the path that everything of it hangs from.
public struct ServerAddress: Equatable, Sendable {
    public let scheme: Target.Scheme
    /// Lower case, without brackets.
    public let host: String
    public let port: UInt16
    /// Without a slash at its end; empty where the server has the whole host.
    let context: String

    /// Nil where the text is no absolute URL.
    public init?(_ url: String) {
        guard let head = try? RequestHead(method: "GET", url: url) else { return nil }
        scheme = head.target.scheme
        host = head.host
        port = head.target.port
        var path = Substring(head.path)
        while path.last == "/" { path.removeLast() }
        context = String(path)
    }

    /// The request's URL names this scheme, host and port.
    public func isOrigin(of head: RequestHead) -> Bool {
        head.target.scheme == scheme && head.target.port == port && head.host == host
    }

    /// Whether a path stays under the server's own, however a front end may read it: decoded once or more, cut at `;`,
    /// with either slash, and with its dots followed.
    public func covers(path: String) -> Bool {
        guard context.isEmpty || path == context || path.hasPrefix(context + "/") else { return false }
        var text = path
        for _ in 0..<3 {
            let climbs = text.utf8.split(whereSeparator: { $0 == 0x2F || $0 == 0x5C }).contains { segment in
                let name = segment.prefix { $0 != 0x3B }
                return name.elementsEqual([0x2E]) || name.elementsEqual([0x2E, 0x2E])
            }
            if climbs { return false }
            let decoded = PercentCoding.decode(text)
            if decoded == text { return true }
            text = decoded
        }
        // still not plain: nobody encodes a path four times in good faith
        return false
    }
}

extension AuthorizationServer {
    /// Why a call that carries the session may not go out as interceptors left it, one sentence; nil where it goes to
    /// this server.
    public func refusal(of head: RequestHead) -> String? {
        guard let address = ServerAddress(url) else { return "the configured AM's URL cannot be read" }
        guard address.isOrigin(of: head) else {
            return
                "the call to AM was directed to \(head.target.scheme.name)://\(head.fields.text(head.target.authority))"
                + ", which is not the configured AM"
        }
        guard address.covers(path: head.path) || head.path == paths[.authenticate] else {
            return "the call to AM was directed to a path that is not under \(url)"
        }
        // behind a shared front end it is this field that decides who gets the request
        for value in head.fields.values(named: "Host") {
            var named = head
            guard (try? named.adopt(authority: value, scheme: head.target.scheme)) != nil, address.isOrigin(of: named)
            else { return "the call to AM names \(Words.shown(value)) in Host, which is not the configured AM" }
        }
        return nil
    }
}
