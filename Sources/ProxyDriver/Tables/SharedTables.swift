public import Authorization

/// The tables that all workers of a process share. Any loop may use them.
public struct SharedTables: Sendable {
    public let flows = FlowTable()
    public let refusals = RefusalTable()
    public let clients = ClientTable()
    public let logins = LoginTable()
    public let cookies = CookieSessionTable(.cookie)
    public let limits = LimitTable()
    public let decisions = DecisionTable()
    public let pushes = PushTable()
    public let sessions = SessionTable()
    public let errands = ErrandTable()
    public let authenticator = Authenticator()
    public let transactions: TransactionTable
    public let tokens: TokenTable
    /// The state that is stored over restarts; nil if nothing is.
    public let state: (any StateStore & Sendable)?

    public init(
        transactions: TransactionTable = TransactionTable(), tokens: TokenTable = TokenTable(),
        state: (any StateStore & Sendable)? = nil
    ) {
        self.transactions = transactions
        self.tokens = tokens
        self.state = state
    }
}
