public import Authorization

/// What all loops know of sessions. Nil where nobody remembers.
public struct SessionStores {
    public let upgrades: any FlightStore<SharedUpgrade>
    /// Those that Usher logged in for itself.
    public let own: any FlightStore<OwnSession>
    /// Those of clients whose logins it saw.
    public let learned: any LearnedStore

    /// Has AM told of a session that nobody has use for any more.
    public let logOut: (@Sendable (OwnSession.End) -> Void)?

    public init(
        upgrades: any FlightStore<SharedUpgrade>, own: any FlightStore<OwnSession>, learned: any LearnedStore,
        logOut: (@Sendable (OwnSession.End) -> Void)? = nil
    ) {
        self.logOut = logOut
        self.upgrades = upgrades
        self.own = own
        self.learned = learned
    }
}

/// Keeps `LearnedSessions` for all loops: asked only where a configuration learns sessions.
public protocol LearnedStore: AnyObject {
    func find(_ client: LearnedClient, at server: String) -> LearnedSessions.Found?
    func learn(_ news: LearnedSessions.News, of client: LearnedClient, at server: String, for time: Int)
    func forget(_ client: LearnedClient, at server: String)
    /// The session is over, whoever has it.
    func ended(_ session: String)
    /// AM gave another in its place.
    func replaced(_ session: String, by other: SessionSource)
}
