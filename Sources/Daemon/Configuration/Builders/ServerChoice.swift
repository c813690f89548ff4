internal import Authorization
internal import Declaration
internal import Interception

/// Reads the key `am` of a section, which selects a server of the list `am`.
struct ServerChoice {
    let findings: Findings
    /// The configured servers; nil if one of them is invalid, so that a missing name proves nothing.
    let servers: [AuthorizationServer]?
    /// The URLs of servers with realms that are unknown here.
    var openRealms: Set<String> = []

    /// - Parameters:
    ///   - section: the section's name.
    ///   - position: the section's position.
    func server(_ fields: Fields, _ section: String, _ position: Position) -> AuthorizationServer? {
        guard let servers else { return nil }
        guard let written = fields["am"], let text = written.text else {
            // an invalid value was reported already
            guard !fields.has("am") else { return nil }
            guard servers.count == 1, let only = servers.first else {
                findings.error(
                    position, "\(section) lacks the key \"am\"; it takes the url of a server in am")
                return nil
            }
            return only
        }
        let url = ServerBuilder.normalized(text)
        if let server = servers.first(where: { $0.url == url }) { return server }
        let known = servers.map(\.url)
        let choice = known.isEmpty ? "there are none" : known.joined(separator: ", ")
        findings.error(
            written.position,
            "\(section).am is not a server in am (\(choice)), found \"\(written.written)\"",
            nearest: Nearest.name(to: text, among: known))
        return nil
    }

    /// Reads a realm of the server.
    /// - Parameter key: the name of the key, for messages.
    func realm(_ written: Decoded?, of server: AuthorizationServer, _ key: String) -> String? {
        guard let written, let name = written.text else { return nil }
        if let known = server.configuredRealm(name) { return known }
        guard !openRealms.contains(server.url) else { return name }
        findings.error(
            written.position,
            "\(key) is not a realm of \(server.url) (\(server.realms.joined(separator: ", "))), found "
                + "\"\(written.written)\"",
            nearest: Nearest.name(to: name, among: server.realms))
        return nil
    }
}
