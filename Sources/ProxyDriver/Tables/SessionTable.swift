public import Authorization
internal import ProxyCore

/// The sessions of all loops: upgrades under way, sessions of Usher's own logins, and learned ones.
public final class SessionTable: Sendable {
    private let upgrades = FlightTable<SharedUpgrade>(.upgrade)
    private let own = FlightTable<OwnSession>(.login)
    private let learned = LearnedTable()

    public init() {}

    /// One loop's access to the sessions.
    /// - Parameter errands: has AM end the sessions that are over.
    func stores(_ bell: FlightBell, _ errands: ErrandTable) -> SessionStores {
        SessionStores(
            upgrades: FlightDesk(upgrades, bell), own: FlightDesk(own, bell), learned: learned,
            logOut: { [weak errands] in errands?.add([Errand($0)]) })
    }

    /// Drops the sessions of all other logins.
    public func keep(loginsOf policies: [AuthorizationPolicy]) {
        own.keep(policies.filter { $0.sessions.source == .login }.map(\.loginMaterial))
    }
}
