internal import Declaration
internal import Interception

/// The key `am` of a section: which of the servers under `am` is meant.
struct ServerChoice {
    let findings: Findings
    /// Those of `am`; nil where some of them are faulty, so that who is missing cannot be told.
    let servers: [AuthorizationServer]?

    /// - Parameters:
    ///   - section: its name.
    ///   - position: where it stands.
    func server(_ fields: Fields, _ section: String, _ position: Position) -> AuthorizationServer? {
        guard let servers else { return nil }
        guard let written = fields["am"], let text = written.text else {
            // a key that is there and faulty has been told of
            guard !fields.has("am") else { return nil }
            guard servers.count == 1, let only = servers.first else {
                findings.error(
                    position, "\(section) lacks the key \"am\"; it takes the url of one of the servers under am")
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
            "\(section).am names none of the servers under am (\(choice)), found \"\(written.written)\"",
            nearest: Nearest.name(to: text, among: known))
        return nil
    }
}
