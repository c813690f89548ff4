public import Authorization
internal import EventLoop
internal import Interception
internal import ProxyCore

/// The sessions of all loops: upgrades under way, sessions of Usher's own logins, and learned ones.
public final class SessionTable: Sendable {
    private let upgrades = CredentialTable<SharedUpgrade>(SharedCredentials(.upgrade))
    private let own = CredentialTable<KeptSession>(SharedCredentials(.login))
    private let learned = LearnedTable(LearnedSessions())

    /// One loop's access to the sessions.
    /// - Parameters:
    ///   - backgroundCalls: has AM end the sessions that are over.
    ///   - testSession: the test session of the table, if it is one's own.
    func stores(
        _ waiting: WaitingExchanges, _ backgroundCalls: BackgroundCallTable,
        for testSession: Locked<BackgroundCall.Session>?
    ) -> SessionStores {
        SessionStores(
            upgrades: CredentialDesk(upgrades, waiting), own: CredentialDesk(own, waiting), learned: learned,
            logOut: { [weak backgroundCalls] in
                backgroundCalls?.add([BackgroundCall($0)], for: testSession?.withLock { $0 })
            })
    }

    /// Drops the sessions of all other logins.
    public func keep(loginsOf policies: [AuthorizationPolicy]) {
        let keys = Set(policies.filter { $0.sessions.source == .login }.map(SessionKey.init))
        own.tell { $0.change { _ = $0.forget { key, _ in !keys.contains(key) } } }
    }
}
