internal import Authorization
import EventLoop
import Interception
import ProxyCore

/// The tables of one test session, or of all requests without one. No other session sees them.
struct IsolatedTables: Sendable {
    /// The test session, with the rules that it has now; nil for requests without one.
    let testSession: Locked<BackgroundCall.Session>?
    let flows = FlowTable(FlowMap())
    let cookies = CredentialTable<CookieJar>(SharedCredentials(.cookie))
    let limits = LimitTable(LimitLedger())
    let decisions = DecisionTable(DecisionLedger())
    let logins = LoginTable(LoginLedger())
    let sessions = SessionTable()
    let tokens = TokenTable(SharedCredentials(.token))

    init(_ testSession: BackgroundCall.Session? = nil) { self.testSession = testSession.map { Locked($0) } }

    /// Adds calls that the requests with these tables need no more, which run by the rules of their session.
    func add(_ calls: [BackgroundCall], to backgroundCalls: BackgroundCallTable) {
        backgroundCalls.add(calls, for: testSession?.withLock { $0 })
    }
}
