internal import Authorization
import Interception
import ProxyCore

/// The tables of one test session, or of all requests without one. No other session sees them.
struct IsolatedTables: Sendable {
    let flows = FlowTable(FlowMap())
    let cookies = CredentialTable<CookieJar>(SharedCredentials(.cookie))
    let limits = LimitTable(LimitLedger())
    let decisions = DecisionTable(DecisionLedger())
    let logins = LoginTable(LoginLedger())
    let sessions = SessionTable()
    let tokens = TokenTable(SharedCredentials(.token))
}
