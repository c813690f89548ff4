internal import Authorization
internal import EventLoop
public import Interception
public import ProxyCore

typealias WaitingPort = Mailbox<WaitingTicket>

/// Wakes the exchanges that hold these tickets.
private func wake(_ tickets: [(WaitingTicket, WaitingPort)]) {
    for (ticket, port) in tickets { port.post(ticket) }
}

/// The credentials of all loops. It is used only when a request needs one, and wakes the exchanges that wait for a fetch.
public final class CredentialTable<Value: Credential>: Sendable {
    private struct State {
        var ledger = CredentialLedger<Value>()
        var line: WaitingLine<Value, WaitingPort>
    }

    private let state: Locked<State>

    init(_ kind: WaitingTicket.Kind) { state = Locked(State(line: WaitingLine(kind))) }

    func change<Result>(_ body: (inout CredentialLedger<Value>) -> Result) -> Result {
        let (result, woken) = state.withLock { state in
            let result = body(&state.ledger)
            return (result, state.ledger.takeEnded().flatMap { state.line.ended($0) })
        }
        wake(woken)
        return result
    }

    func enter(_ obstacle: CredentialLedger<Value>.Obstacle, _ port: WaitingPort) -> WaitingTicket? {
        state.withLock { $0.line.enter(obstacle, port) }
    }

    func leave(_ ticket: WaitingTicket) { wake(state.withLock { $0.line.leave(ticket) }) }
    func isAwaited(_ key: Value.Key) -> Bool { state.withLock { $0.line.isAwaited(key) } }
}

public typealias CookieSessionTable = CredentialTable<CookieJar>

/// The tokens of all loops. It wakes the exchanges that wait for a fetch.
public final class TokenTable: Sendable {
    /// Gets every changed or removed token, under the table's lock.
    public typealias Witness = @Sendable (KeptToken?, TokenKey) -> Void

    private struct State {
        var ledger = TokenLedger()
        var witness: Witness?
        var line = WaitingLine<TokenGrant, WaitingPort>(.token)

        /// Passes changes to the witness.
        /// - Returns: the tickets and loops to wake after a fetch.
        mutating func passChanges() -> [(WaitingTicket, WaitingPort)] {
            if let witness {
                for one in ledger.takeChanges() { witness(one.token, one.key) }
            }
            return ledger.takeEnded().flatMap { line.ended($0) }
        }
    }

    private let state = Locked(State())

    public init() {}

    public func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result {
        let (result, woken) = state.withLock { state in
            let result = body(&state.ledger)
            return (result, state.passChanges())
        }
        wake(woken)
        return result
    }

    func enter(_ obstacle: CredentialLedger<TokenGrant>.Obstacle, _ port: WaitingPort) -> WaitingTicket? {
        state.withLock { $0.line.enter(obstacle, port) }
    }

    func leave(_ ticket: WaitingTicket) { wake(state.withLock { $0.line.leave(ticket) }) }
    func isAwaited(_ key: TokenKey) -> Bool { state.withLock { $0.line.isAwaited(key) } }

    /// Removes the tokens to revoke at the end, as errands.
    func takeRevocations(by policy: TokenPolicy?) -> [Errand] {
        // a token is either revoked or stored
        changeTokens { $0.takeRevocable(by: policy) }.compactMap { Errand(revoking: $0.grant, of: $0.source) }
    }

    /// - Parameters:
    ///   - all: the witness gets the existing tokens, too.
    ///   - witness: gets all changes from now on.
    public func observe(all: Bool, _ witness: @escaping Witness) {
        state.withLock { state in
            state.witness = witness
            state.ledger.noteChanges()
            let changes = state.ledger.takeChanges()
            for one in all ? state.ledger.all : changes { witness(one.token, one.key) }
        }
    }
}
