internal import Addresses
internal import Declaration
internal import Passwords
internal import ProxyCore

/// Builds the client policy from `clients`: permitted addresses and passwords.
struct ClientBuilder {
    let findings: Findings

    /// The bcrypt cost below which a stolen password file is soon cracked.
    private static let modestCost = 10

    func policy(_ fields: Fields?) -> ClientPolicy {
        var policy = ClientPolicy()
        guard let fields else { return policy }
        if fields.has("allow") {
            policy.allow = entries(fields, "allow")
            if let written = fields["allow"], written.isEmptyList {
                findings.error(
                    written.position,
                    "clients.allow is empty and permits no client; write [loopback] or remove the key")
            }
            if !fields.has("basic") { requirePassword(fields) }
        }
        policy.balancers = entries(fields, "proxy_protocol")
        return policy
    }

    private func entries(_ fields: Fields, _ key: String) -> [ClientPolicy.Entry] {
        fields.list(key).compactMap { entry($0) }
    }

    private func entry(_ item: Decoded) -> ClientPolicy.Entry? {
        guard let text = item.text else { return nil }
        if let group = AddressGroup(rawValue: text) { return .group(group) }
        return AddressBlock(text).map { .block($0) }
    }

    /// Requires passwords unless all permitted clients are on this machine.
    private func requirePassword(_ fields: Fields) {
        for item in fields.list("allow") {
            guard let entry = entry(item), !entry.isLoopback else { continue }
            return findings.error(
                item.position,
                "clients.allow has more than loopback, which requires clients.basic; add basic: { users: "
                    + "\"${file:/etc/usher/users.htpasswd}\" } (create the file: htpasswd -B -C 10 -c "
                    + "/etc/usher/users.htpasswd NAME)"
            )
        }
    }

    /// Nil if no password is required.
    func users(_ fields: Fields?) -> PasswordTable? {
        guard let written = fields?.fields("basic")?["users"], let text = written.text else { return nil }
        // the lines belong to a substituted file, so none is quoted
        let table = PasswordTable(htpasswd: text) { line, fault in
            findings.error(written.position, "clients.basic.users, line \(line): \(Self.explanation(fault))")
        }
        if let cost = table.lowestCost {
            if cost < Self.modestCost {
                findings.warning(
                    written.position,
                    "clients.basic.users has a password hashed at cost \(cost), which is easy to crack in a stolen "
                        + "file; rehash it with htpasswd -B -C \(Self.modestCost)"
                )
            }
        } else if !findings.hasErrors {
            findings.error(
                written.position,
                "clients.basic.users has no user, so nobody can use the proxy; add one with htpasswd -B FILE NAME")
        }
        return table
    }

    private static func explanation(_ fault: PasswordTable.Fault) -> String {
        switch fault {
        case .malformed: "the line is not NAME:HASH; create the file with htpasswd -B"
        case .scheme(let name):
            "the password's scheme is \(name), but only bcrypt is supported; rehash it with htpasswd -B"
        case .repeated(let line): "the user is already in line \(line); remove one"
        case .tooCostly(let cost):
            "bcrypt at cost \(cost) takes seconds per check; rehash it with htpasswd -B -C 12"
        }
    }
}
