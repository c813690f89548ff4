public import Authorization
internal import Interception
public import ProxyCore

/// The tables that all workers of a process share. Any loop may use them.
public struct SharedTables: Sendable {
    public typealias Notice = @Sendable (TransactionID, OpenTransaction, [String]) -> Void

    let flows = FlowTable(FlowMap())
    let refusals = RefusalTable(RefusalCounts())
    let clients = ClientTable(ClientShares())
    let cookies = CredentialTable<CookieJar>(SharedCredentials(.cookie))
    let limits = LimitTable(LimitLedger())
    let decisions = DecisionTable(DecisionLedger())
    let pushes = PushTable(DeviceMemory())
    let backgroundCalls = BackgroundCallTable()
    let authenticator = Authenticator()
    public let logins = LoginTable(LoginLedger())
    public let sessions = SessionTable()
    public let transactions = TransactionTable(TransactionLedger())
    public let tokens = TokenTable(SharedCredentials(.token))
    /// The state that is stored over restarts; nil if nothing is.
    let state: (any StateStore & Sendable)?
    let notice: Notice

    /// - Parameter notice: gets each new step-up with its notification command, on its loop's thread.
    public init(state: (any StateStore & Sendable)? = nil, notice: @escaping Notice = { _, _, _ in }) {
        self.state = state
        self.notice = notice
    }
}

/// The memory of devices.
typealias PushTable = SharedLedger<DeviceMemory>

extension PushTable: PushStore {}
