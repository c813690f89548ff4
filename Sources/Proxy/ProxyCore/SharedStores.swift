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
    /// Accepts errands; any loop that serves may run them.
    public let errands: (([Errand]) -> Void)?
    public let decisions: (any DecisionStore)?

    public init(
        flows: (any FlowStore)? = nil, refusals: (any RefusalStore)? = nil, logins: (any LoginStore)? = nil,
        cookies: (any CookieSessionStore)? = nil, limits: (any LimitStore)? = nil,
        state: (any StateStore)? = nil, transactions: (any TransactionStore)? = nil,
        tokens: (any TokenStore)? = nil, pushes: (any PushStore)? = nil, sessions: SessionStores? = nil,
        errands: (([Errand]) -> Void)? = nil, decisions: (any DecisionStore)? = nil
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
        self.errands = errands
        self.decisions = decisions
    }
}
