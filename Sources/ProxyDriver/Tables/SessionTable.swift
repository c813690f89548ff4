public import Authorization
internal import ProxyCore

/// Sessions, shared by all loops: upgrades that are under way, logins of Usher's own, what was learned of clients.
public final class SessionTable: Sendable {
    private let upgrades = FlightTable<SharedUpgrade>(.upgrade)
    private let own = FlightTable<OwnSession>(.login)
    private let learned = LearnedTable()

    public init() {}

    /// One loop's way to them.
    /// - Parameter errands: has AM told of those that are over.
    func stores(_ bell: FlightBell, _ errands: ErrandTable) -> SessionStores {
        SessionStores(
            upgrades: FlightDesk(upgrades, bell), own: FlightDesk(own, bell), learned: learned,
            logOut: { [weak errands] in errands?.add([Errand($0)]) })
    }

    /// Drops the sessions of logins that are not among these.
    public func keep(loginsOf policies: [AuthorizationPolicy]) {
        own.keep(policies.filter { $0.sessions.source == .login }.map(\.loginMaterial))
    }
}
