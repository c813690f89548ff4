import ProxyCore

/// The origins that keep connections open after a response. Some servers close each one without an announcement. A request that
/// must not be repeated may then use a connection whose end was not seen yet.
struct ConnectionKeepers {
    /// An open connection that was idle for this long shows that its origin keeps connections. In milliseconds.
    private static let proof = 50
    /// A connection that was idle for less counts as open, because servers keep one for seconds. In milliseconds.
    private static let recently = 1_000
    private static let most = 1_024

    private var origins: Set<Origin> = []

    /// Records that a connection is open after this idle time.
    mutating func seen(_ origin: Origin, idle time: Int) {
        guard time >= Self.proof, !origins.contains(origin) else { return }
        if origins.count >= Self.most { origins = [] }
        origins.insert(origin)
    }

    /// True if a connection counts as open after this idle time, without a seen end.
    func isOpen(_ origin: Origin, idle time: Int) -> Bool {
        !Self.isOld(time) && origins.contains(origin)
    }

    /// True if the origin may close a connection after this idle time.
    static func isOld(_ time: Int) -> Bool { time >= recently }

    /// Records that the origin closed a connection after this idle time.
    mutating func closed(_ origin: Origin, idle time: Int) {
        if !Self.isOld(time) { origins.remove(origin) }
    }
}
