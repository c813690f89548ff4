internal import Formats

/// What AM says of a session (`sessions?_action=getSessionInfo`).
enum SessionInfo {
    /// Who the session's user is, for telling one from another; nil where AM does not say.
    static func identity(_ answer: JSONValue?) -> String? {
        ["universalId", "username"].lazy.compactMap { answer?[$0]?.text }.first { !$0.isEmpty }.map(ASCII.lowercased)
    }

    /// What the session's user is called: the name, and the id where that is another one. None where AM does not say.
    static func names(_ answer: JSONValue?) -> [String] {
        var names = [answer?["username"]?.text ?? ""]
        // `id=alice,ou=user,o=alpha,ou=services,…`
        if let id = answer?["universalId"]?.text, id.hasPrefix("id=") {
            names.append(String(id.dropFirst(3).prefix { $0 != "," }))
        }
        return names.filter { !$0.isEmpty }
    }
}
