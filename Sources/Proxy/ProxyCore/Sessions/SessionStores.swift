public import Authorization

/// The session stores that all loops share.
public struct SessionStores {
    public let upgrades: any CredentialStore<SharedUpgrade>
    /// Sessions of Usher's own logins.
    public let own: any CredentialStore<KeptSession>
    /// Sessions of clients, learned from their logins.
    public let learned: (any LearnedStore)?

    /// Has AM end a session that is no longer used.
    public let logOut: (@Sendable (OwnSession.End) -> Void)?

    public init(
        upgrades: any CredentialStore<SharedUpgrade>, own: any CredentialStore<KeptSession>,
        learned: (any LearnedStore)? = nil,
        logOut: (@Sendable (OwnSession.End) -> Void)? = nil
    ) {
        self.logOut = logOut
        self.upgrades = upgrades
        self.own = own
        self.learned = learned
    }
}

/// Keeps `LearnedSessions` for all loops. It is used only if the configuration learns sessions.
public protocol LearnedStore: AnyObject {
    func find(_ client: LearnedClient, at server: String) -> LearnedSessions.Found?
    func learn(_ news: LearnedSessions.News, of client: LearnedClient, at server: String, for time: Int)
    func forget(_ client: LearnedClient, at server: String)
    /// Drops the session for all clients.
    func ended(_ session: String)
    /// Notes the session that AM put in this one's place.
    func replaced(_ session: String, by other: SessionSource)
}
