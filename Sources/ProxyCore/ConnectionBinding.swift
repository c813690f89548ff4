/// Whether connections to origins carry the identity of whoever is behind this client's connection, and who that is: they serve
/// nobody else, and not that client either once it has shown itself as another user.
struct ConnectionBinding {
    private enum State {
        case none
        case bound(user: String?)
    }

    private var state = State.none

    /// A connection to an origin belongs to this client from here on.
    mutating func bind(for user: String?) { state = .bound(user: user) }

    /// Whose request comes next.
    /// - Returns: true where connections are bound for somebody else: they have to be let go of.
    mutating func passes(to user: String?) -> Bool {
        guard case .bound(let owner) = state, owner != user else { return false }
        state = .none
        return true
    }
}

/// Which connections a lease may be served by.
public enum LeaseScope: Sendable {
    /// The client's own one; else one that belongs to nobody; else a new one.
    case any
    /// The client's own one, or a new one: what goes out would give its identity to the connection, or goes out once alone.
    case own
    case new
}
