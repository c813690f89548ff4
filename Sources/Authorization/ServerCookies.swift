internal import HTTPCodec

/// The cookies that AM sets while it authenticates, to be returned to it and to nobody else.
struct ServerCookies: Sendable {
    private(set) var pairs: [(name: String, value: String)] = []
    /// More than AM and a load balancer before it have use for.
    static let limit = 32

    subscript(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

    mutating func set(_ name: String, _ value: String) {
        if let index = pairs.firstIndex(where: { $0.name == name }) {
            pairs[index].value = value
        } else if pairs.count < Self.limit {
            pairs.append((name, value))
        }
    }

    /// Takes over what a response sets and deletes, but for the session's own cookie: which session the calls belong
    /// to is not for an answer under way to change.
    mutating func absorb(_ fields: FieldTable, except session: String) {
        for line in fields.values(named: "Set-Cookie") {
            guard let cookie = SetCookie(line), cookie.name != session else { continue }
            if cookie.deletes {
                pairs.removeAll { $0.name == cookie.name }
            } else if SessionSource.isUsable(cookie.value) {
                set(cookie.name, cookie.value)
            }
        }
    }
}
