public import Authorization
public import Interception

/// The stores that all connections share. Nil for a store that is not in use. A class, so that each connection
/// holds one reference.
public final class SharedStores {
    public let flows: (any FlowStore)?
    public let refusals: (any RefusalStore)?
    public let logins: (any LoginStore)?
    public let cookies: (any CookieSessionStore)?
    public let limits: (any LimitStore)?
    /// State that outlives the process.
    public let state: (any StateStore)?
    public let transactions: (any TransactionStore)?
    public let tokens: (any TokenStore)?
    public let pushes: (any PushStore)?
    public let sessions: SessionStores?
    /// Accepts background calls; any loop that serves may run them.
    public let backgroundCalls: (([BackgroundCall]) -> Void)?
    public let decisions: (any DecisionStore)?
    public let testSessions: (any TestSessionStore)?

    public init(
        flows: (any FlowStore)? = nil, refusals: (any RefusalStore)? = nil, logins: (any LoginStore)? = nil,
        cookies: (any CookieSessionStore)? = nil, limits: (any LimitStore)? = nil,
        state: (any StateStore)? = nil, transactions: (any TransactionStore)? = nil,
        tokens: (any TokenStore)? = nil, pushes: (any PushStore)? = nil, sessions: SessionStores? = nil,
        backgroundCalls: (([BackgroundCall]) -> Void)? = nil, decisions: (any DecisionStore)? = nil,
        testSessions: (any TestSessionStore)? = nil
    ) {
        self.flows = flows
        self.refusals = refusals
        self.logins = logins
        self.cookies = cookies
        self.limits = limits
        self.state = state
        self.transactions = transactions
        self.tokens = tokens
        self.pushes = pushes
        self.sessions = sessions
        self.backgroundCalls = backgroundCalls
        self.decisions = decisions
        self.testSessions = testSessions
    }
}
