public import Authorization

/// What all workers of a process share: each of it may be asked from any loop.
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
    /// What outlives the process; nil where nothing does.
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
