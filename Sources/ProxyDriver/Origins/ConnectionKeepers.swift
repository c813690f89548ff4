import ProxyCore

/// The origins that keep connections open behind a response. Some servers close each one without saying so, and a request that
/// must be sent only once may meet such a connection before its end is seen.
struct ConnectionKeepers {
    /// A connection that was idle for so long, and is open, shows that its origin keeps connections. In milliseconds.
    private static let proof = 50
    /// A connection that was idle for less counts as open: servers keep one for seconds. In milliseconds.
    private static let recently = 1_000
    private static let most = 1_024

    private var origins: Set<Origin> = []

    /// Notes that a connection is open that has been idle for this time.
    mutating func seen(_ origin: Origin, idle time: Int) {
        guard time >= Self.proof, !origins.contains(origin) else { return }
        if origins.count >= Self.most { origins = [] }
        origins.insert(origin)
    }

    /// Whether a connection that has been idle for this time, and whose end was not seen, counts as open.
    func isOpen(_ origin: Origin, idle time: Int) -> Bool {
        !Self.isOld(time) && origins.contains(origin)
    }

    /// Whether a connection that has been idle for this time may be closed by its origin.
    static func isOld(_ time: Int) -> Bool { time >= recently }

    /// Notes that the origin closed a connection that had been idle for this time.
    mutating func closed(_ origin: Origin, idle time: Int) {
        if !Self.isOld(time) { origins.remove(origin) }
    }
}
