public import Authorization
internal import EventLoop
internal import ProxyCore

/// Sessions, shared by all loops: upgrades that are under way, logins of Usher's own, what was learned of clients; and those
/// that are to be ended at AM, by whichever loop still serves.
public final class SessionTable: Sendable {
    typealias Port = Mailbox<WorkerMessage>

    private struct Ends {
        var waiting: [OwnSession.End] = []
        /// Loops that serve.
        var ports: [Port] = []
    }

    private let upgrades = FlightTable<SharedUpgrade>(.upgrade)
    private let own = FlightTable<OwnSession>(.login)
    private let learned = LearnedTable()
    private let ends = Locked(Ends())
    /// More than these were never won.
    private static let mostEnds = 4096

    public init() {}

    /// One loop's way to them.
    func stores(_ bell: FlightBell) -> SessionStores {
        SessionStores(
            upgrades: FlightDesk(upgrades, bell), own: FlightDesk(own, bell), learned: learned,
            logOut: { [weak self] in self?.end($0) })
    }

    /// Drops the sessions of logins that are not among these.
    public func keep(loginsOf policies: [AuthorizationPolicy]) {
        own.keep(policies.filter { $0.sessions.source == .login }.map(\.loginMaterial))
    }

    // MARK: the end of a session

    func enter(_ port: Port) { ends.withLock { $0.ports.append(port) } }

    /// A loop ends. The last one ends all sessions: those that it is given.
    func leave(_ port: Port) -> [OwnSession.End] {
        let isLast = ends.withLock { ends in
            ends.ports.removeAll { $0 === port }
            return ends.ports.isEmpty
        }
        guard isLast else { return [] }
        own.keep([])
        return takeEnds()
    }

    func takeEnds() -> [OwnSession.End] {
        ends.withLock { ends in
            defer { ends.waiting = [] }
            return ends.waiting
        }
    }

    private func end(_ session: OwnSession.End) {
        let port = ends.withLock { ends in
            if ends.waiting.count < Self.mostEnds { ends.waiting.append(session) }
            return ends.ports.first
        }
        port?.post(.endSessions)
    }
}
