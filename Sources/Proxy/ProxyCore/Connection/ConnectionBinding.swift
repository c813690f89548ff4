/// Tracks whether connections to origins carry the client's identity, and whose it is. Such connections serve no other client,
/// and not this one either once it has authenticated as another user.
struct ConnectionBinding {
    private enum State {
        case none
        case bound(user: String?)
    }

    private var state = State.none
    /// How often bound connections were released. Leases from before a change are not kept.
    private(set) var changes = 0

    /// Whether the bound connections belong to another user.
    func isAnothers(than user: String?) -> Bool {
        if case .bound(let owner) = state { owner != user } else { false }
    }

    /// Binds a connection to this client.
    /// - Returns: true when other connections are bound to another user and must be released.
    @discardableResult
    mutating func bind(for user: String?) -> Bool {
        let isAnothers = isAnothers(than: user)
        if isAnothers { letGo() }
        state = .bound(user: user)
        return isAnothers
    }

    /// Sets the user of the next request.
    /// - Returns: true when connections are bound to another user and must be released.
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

/// The connections that may serve a lease.
public enum LeaseScope: Sendable {
    /// The client's bound connection; else a shared one; else a new one.
    case any
    /// The same, but only a connection that the origin used lately: the request must not be sent twice.
    case heard
    /// The client's bound connection or a new one: the request binds the connection, or must be sent only once.
    case own
    /// A shared connection that was used a moment ago, or a new one: a call must reach AM, and only once.
    case recent
    case new
}

extension LeaseScope {
    /// Whether a stream of a shared connection will do.
    public var takesShared: Bool {
        switch self {
        case .any, .heard, .recent: true
        case .own, .new: false
        }
    }
}

/// The HTTP versions that a lease allows.
public enum LeaseVersion: Sendable {
    case any
    /// HTTP/1 if the origin lets Usher choose, because the request binds the connection.
    case oldest
    /// HTTP/1, because the connection becomes a tunnel.
    case http1
    /// The request asks for another protocol: a stream if the origin supports that (RFC 8441), else HTTP/1
    /// (RFC 9113 §8.6).
    case upgrade
}
