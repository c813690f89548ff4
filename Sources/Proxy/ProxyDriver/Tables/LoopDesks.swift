import EventLoop
import Interception
import Passwords
import ProxyCore

/// One loop's access to everything that its exchanges may wait for: shared tables, persons, password checks, and interceptors in
/// Swift that run off the loop.
final class LoopDesks {
    /// The stores that connections use.
    let stores: SharedStores
    private let loop: Loop
    private let report: LoopReport
    /// The exchanges that wait for other loops.
    let waiting: WaitingExchanges
    private let authenticator: Authenticator
    /// Made for the first password.
    private var passwords: PasswordVerifier?
    /// Made for the first interceptor that runs off the loop.
    private var code: CodeRunner?

    init(loop: Loop, _ tables: SharedTables, _ report: LoopReport) throws(SystemError) {
        self.loop = loop
        self.report = report
        let waiting = try WaitingExchanges(loop: loop)
        self.waiting = waiting
        authenticator = tables.authenticator
        let testSessions = TestSessionDesk(tables.testSessions) { Self.stores($0, tables, waiting) }
        stores = Self.stores(tables.own, tables, waiting, testSessions)
    }

    private static func stores(
        _ own: IsolatedTables, _ tables: SharedTables, _ waiting: WaitingExchanges,
        _ testSessions: TestSessionDesk? = nil
    ) -> SharedStores {
        SharedStores(
            flows: own.flows, refusals: tables.refusals, logins: Desk(own.logins, waiting),
            cookies: CredentialDesk(own.cookies, waiting), limits: Desk(own.limits, waiting), state: tables.state,
            transactions: TransactionDesk(tables.transactions, waiting, tables.notice),
            tokens: CredentialDesk(own.tokens, waiting),
            pushes: tables.pushes, sessions: own.sessions.stores(waiting, tables.backgroundCalls, for: own.testSession),
            backgroundCalls: { own.add($0, to: tables.backgroundCalls) }, decisions: Desk(own.decisions, waiting),
            testSessions: testSessions)
    }

    /// Releases the connections, once the loop is over.
    func letGo() {
        code = nil
        passwords = nil
    }

    // MARK: passwords

    /// The verdict if it is known at once; else nil, and the connection gets it later.
    func verdict(on check: PasswordCheck, of id: ExchangeID, for connection: Connection) -> PasswordVerdict? {
        if passwords == nil { passwords = try? PasswordVerifier(loop: loop, authenticator: authenticator) }
        return passwords.map { $0.verdict(on: check, of: id, for: connection) } ?? .busy
    }

    // MARK: code of others

    /// The result if it is known at once; else nil, and the connection gets it later.
    func start(_ call: SwiftCall, of id: ExchangeID, for connection: Connection) -> SwiftAnswer? {
        if code == nil { code = try? CodeRunner(loop: loop, report: report) }
        guard let code else { return .failed("could not be started") }
        return code.start(call, of: id, for: connection)
    }

    func cancelCode(of id: ExchangeID, for connection: Connection) { code?.cancel(id, of: connection) }
    func cancelCode(allOf connection: Connection) { code?.cancel(allOf: connection) }
}
