internal import Authorization
internal import EventLoop
public import Interception
public import ProxyCore

typealias LoginPort = Mailbox<FlightTicket>

/// The login results of all loops. It is used only when a request needs one, and notifies the loops of waiting exchanges when a
/// login ends.
public final class SharedLoginTable<Gain: LoginGain>: Sendable {
    private struct State {
        var logins = SharedLogins<Gain>()
        var line: LoginLine<Gain, LoginPort>
    }

    private let state: Locked<State>

    init(_ kind: FlightTicket.Kind) { state = Locked(State(line: LoginLine(kind))) }

    func change<Result>(_ body: (inout SharedLogins<Gain>) -> Result) -> Result {
        let (result, turns) = state.withLock { state in
            let result = body(&state.logins)
            return (result, state.logins.takeLanded().flatMap { state.line.landed($0) })
        }
        tell(turns)
        return result
    }

    func enter(_ obstacle: SharedLogins<Gain>.Obstacle, _ port: LoginPort) -> FlightTicket? {
        state.withLock { $0.line.enter(obstacle, port) }
    }

    func leave(_ ticket: FlightTicket) { tell(state.withLock { $0.line.leave(ticket) }) }
}

private func tell(_ turns: [(FlightTicket, LoginPort)]) {
    for (ticket, port) in turns { port.post(ticket) }
}

public typealias CookieSessionTable = SharedLoginTable<CookieJar>

/// The tokens of all loops. It notifies the loops of waiting exchanges when a login ends.
public final class TokenTable: Sendable {
    /// Gets every changed or removed token, under the table's lock.
    public typealias Witness = @Sendable (KeptToken?, TokenKey) -> Void

    private struct State {
        var ledger = TokenLedger()
        var witness: Witness?
        var line = LoginLine<TokenGrant, LoginPort>(.token)

        /// Passes changes to the witness.
        /// - Returns: the tickets and loops to notify of an ended login.
        mutating func settle() -> [(FlightTicket, LoginPort)] {
            if let witness {
                for one in ledger.takeChanges() { witness(one.token, one.key) }
            }
            return ledger.takeLanded().flatMap { line.landed($0) }
        }
    }

    private let state = Locked(State())

    public init() {}

    public func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result {
        let (result, turns) = state.withLock { state in
            let result = body(&state.ledger)
            return (result, state.settle())
        }
        tell(turns)
        return result
    }

    func enter(_ obstacle: SharedLogins<TokenGrant>.Obstacle, _ port: LoginPort) -> FlightTicket? {
        state.withLock { $0.line.enter(obstacle, port) }
    }

    func leave(_ ticket: FlightTicket) { tell(state.withLock { $0.line.leave(ticket) }) }

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
