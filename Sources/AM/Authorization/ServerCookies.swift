internal import HTTPCodec

/// The cookies that AM sets during authentication. They are returned to AM only.
struct ServerCookies: Sendable {
    private(set) var pairs: [(name: String, value: String)] = []
    /// The limit of cookies, more than AM and its load balancer use.
    static let limit = 32

    subscript(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

    mutating func set(_ name: String, _ value: String) {
        if let index = pairs.firstIndex(where: { $0.name == name }) {
            pairs[index].value = value
        } else if pairs.count < Self.limit {
            pairs.append((name, value))
        }
    }

    /// Applies the `Set-Cookie` lines of a response except the session cookie. A call's response must not change the session of
    /// later calls.
    /// - Returns: the lines that set or delete the affinity cookie.
    mutating func absorb(_ fields: FieldTable, except session: String) -> [String] {
        var lines: [String] = []
        for line in fields.values(named: "Set-Cookie") {
            guard let cookie = SetCookie(line) else { continue }
            if cookie.name == SessionSource.affinityCookie { lines.append(line) }
            if cookie.name == session { continue }
            if cookie.deletes {
                pairs.removeAll { $0.name == cookie.name }
            } else if SessionSource.isUsable(cookie.value) {
                set(cookie.name, cookie.value)
            }
        }
        return lines
    }
}
