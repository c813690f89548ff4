public import Authorization
internal import Interception
public import ProxyCore

/// The tables that all workers of a process share. Any loop may use them.
public struct SharedTables: Sendable {
    public typealias Notice = @Sendable (TransactionID, OpenTransaction, [String]) -> Void

    /// Those of requests without a test session.
    let own = IsolatedTables()
    public let testSessions = TestSessionTable()
    let refusals = RefusalTable(RefusalCounts())
    let clients = ClientTable(ClientShares())
    let pushes = PushTable(DeviceMemory())
    let backgroundCalls = BackgroundCallTable()
    let authenticator = Authenticator()
    public let transactions = TransactionTable(TransactionLedger())
    /// The state that is stored over restarts; nil if nothing is.
    let state: (any StateStore & Sendable)?
    let notice: Notice

    /// - Parameter notice: gets each new step-up with its notification command, on its loop's thread.
    public init(state: (any StateStore & Sendable)? = nil, notice: @escaping Notice = { _, _, _ in }) {
        self.state = state
        self.notice = notice
    }

    public var logins: LoginTable { own.logins }
    public var sessions: SessionTable { own.sessions }
    public var tokens: TokenTable { own.tokens }

    public func closeTestSession(_ id: String) { testSessions.close(id, backgroundCalls) }
}

/// The memory of devices.
typealias PushTable = SharedLedger<DeviceMemory>

extension PushTable: PushStore {}
