/// Whether connections to origins carry the identity of whoever is behind this client's connection, and who that is: they serve
/// nobody else, and not that client either once it has shown itself as another user.
struct ConnectionBinding {
    private enum State {
        case none
        case bound(user: String?)
    }

    private var state = State.none
    /// How often they were let go of. What was leased before is kept for nobody.
    private(set) var changes = 0

    /// They are another user's.
    func isAnothers(than user: String?) -> Bool {
        if case .bound(let owner) = state { owner != user } else { false }
    }

    /// A connection to an origin belongs to this client from here on.
    /// - Returns: true where others are bound for somebody else: they have to be let go of.
    @discardableResult
    mutating func bind(for user: String?) -> Bool {
        let isAnothers = isAnothers(than: user)
        if isAnothers { letGo() }
        state = .bound(user: user)
        return isAnothers
    }

    /// Whose request comes next.
    /// - Returns: true where connections are bound for somebody else: they have to be let go of.
    mutating func passes(to user: String?) -> Bool {
        guard isAnothers(than: user) else { return false }
        letGo()
        return true
    }

    mutating func letGo() {
        state = .none
        changes += 1
    }
}

/// Which connections a lease may be served by.
public enum LeaseScope: Sendable {
    /// The client's own one; else one that belongs to nobody; else a new one.
    case any
    /// The same, but by one on which the origin was heard of lately: what goes out may not go out twice.
    case heard
    /// The client's own one, or a new one: what goes out would give its identity to the connection, or goes out once alone.
    case own
    case new
}

/// What may be spoken on the connection of a lease.
public enum LeaseVersion: Sendable {
    case any
    /// HTTP/1 where the origin may choose, for what goes out gives its identity to the connection.
    case oldest
    /// HTTP/1: a tunnel is to be made of it.
    case http1
    /// What goes out asks for another protocol: a stream, where the origin takes that there (RFC 8441), or else HTTP/1
    /// (RFC 9113 §8.6).
    case upgrade
}
