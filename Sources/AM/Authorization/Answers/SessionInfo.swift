internal import Formats

/// Reads AM's session information (`sessions?_action=getSessionInfo`).
enum SessionInfo {
    /// An identifier that tells users apart; nil if AM gives none.
    static func identity(_ answer: JSONValue?) -> String? {
        ["universalId", "username"].lazy.compactMap { answer?[$0]?.text }.first { !$0.isEmpty }.map(ASCII.lowercased)
    }

    /// The user's name, and the id if it differs. Empty if AM gives neither.
    static func names(_ answer: JSONValue?) -> [String] {
        var names = [answer?["username"]?.text ?? ""]
        // `id=alice,ou=user,o=alpha,ou=services,…`
        if let id = answer?["universalId"]?.text, id.hasPrefix("id=") {
            names.append(String(id.dropFirst(3).prefix { $0 != "," }))
        }
        return names.filter { !$0.isEmpty }
    }
}
