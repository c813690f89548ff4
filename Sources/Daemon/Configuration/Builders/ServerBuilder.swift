internal import Addresses
internal import Declaration
internal import HTTPCodec
internal import Interception
internal import ProxyCore

/// Builds the authorization servers from `am`.
struct ServerBuilder {
    let findings: Findings

    /// - Parameter opened: the hosts that are decrypted; nil if no feature classifies requests.
    func servers(_ items: [Decoded], opened: InterceptionPolicy?) -> [AuthorizationServer] {
        var places: [String: Position] = [:]
        return items.compactMap { item in
            guard let fields = item.fields, let written = fields["url"], let text = written.text,
                let url = Self.normalized(text), let head = try? RequestHead(method: "GET", url: url)
            else { return nil }
            let host = head.host
            if let place = places[url] {
                let other = findings.place(place, from: written.position)
                findings.error(written.position, "this server is already in \(other); merge the two")
                return nil
            }
            places[url] = written.position
            if let opened, head.target.scheme == .https, !opened.opens(host, port: head.target.port) {
                findings.warning(
                    written.position,
                    "requests to \(host) pass in tunnels that are not opened, so no interceptor sees them; add "
                        + "tls: { intercept: [\"\(host)\"] }"
                )
            }
            if head.target.scheme == .http, !Self.isThisMachine(host) {
                findings.warning(
                    written.position,
                    "sessions and answers go to \(host) unencrypted and can be read on the way; write https"
                )
            }
            var server = AuthorizationServer(url: url, host: host)
            let realms = fields.list("realms").compactMap(\.text)
            if !realms.isEmpty { server.realms = realms }
            KeyTable.server.set(fields, in: &server)
            server.loginPages = fields.list("login_pages").compactMap { $0.text.flatMap(Self.normalized) }
            for field in fields.fields("paths")?.all ?? [] {
                guard let endpoint = AuthorizationServer.Endpoint(rawValue: field.name) else { continue }
                server.paths[endpoint] = field.value.text
            }
            return server
        }
    }

    /// The URLs of servers with realms that are unknown here.
    func openRealms(_ items: [Decoded]) -> Set<String> {
        Set(
            items.compactMap(\.fields).filter { fields in
                guard let realms = fields["realms"] else { return fields.has("realms") }
                return !realms.isWholeList || findings.isExcused(anyOf: realms.list)
            }.compactMap { $0.text("url").flatMap(Self.normalized) })
    }

    /// The normal form of a server's URL: scheme and host in lower case, no default port, no trailing slash. Nil if the text is
    /// not a URL.
    static func normalized(_ url: String) -> String? {
        guard let head = try? RequestHead(method: "GET", url: url) else { return nil }
        var path = head.path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        return head.originText + path
    }

    /// Whether traffic to the host stays on this machine (RFC 6761 §6.3).
    static func isThisMachine(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        return IPAddress(host).map(AddressGroup.loopback.contains) ?? false
    }
}
