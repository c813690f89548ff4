public import Authorization
internal import ProxyCore

/// The sessions of all loops: upgrades under way, sessions of Usher's own logins, and learned ones.
public final class SessionTable: Sendable {
    private let upgrades = CredentialTable<SharedUpgrade>(.upgrade)
    private let own = CredentialTable<KeptSession>(.login)
    private let learned = LearnedTable()

    public init() {}

    /// One loop's access to the sessions.
    /// - Parameter errands: the calls by which AM ends the sessions that are over.
    func stores(_ bell: WaitingBell, _ errands: ErrandTable) -> SessionStores {
        SessionStores(
            upgrades: CredentialDesk(upgrades, bell), own: CredentialDesk(own, bell), learned: learned,
            logOut: { [weak errands] in errands?.add([Errand($0)]) })
    }

    /// Drops the sessions of all other logins.
    public func keep(loginsOf policies: [AuthorizationPolicy]) {
        let keys = Set(policies.filter { $0.sessions.source == .login }.map(SessionKey.init))
        own.change { _ = $0.forget { key, _ in !keys.contains(key) } }
    }
}
