internal import Authorization
internal import EventLoop
public import Interception
public import ProxyCore

/// What logins won, shared by all loops. Asked only where something of it is wanted.
public final class SharedLoginTable<Gain: LoginGain>: SharedLoginStore, Sendable {
    private let logins = Locked(SharedLogins<Gain>())

    public init() {}

    public func change<Result>(_ body: (inout SharedLogins<Gain>) -> Result) -> Result { logins.withLock(body) }
}

public typealias CookieSessionTable = SharedLoginTable<CookieJar>

/// Tokens, shared by all loops.
public final class TokenTable: TokenStore, Sendable {
    /// Is told of every token that is another one, or none any more, under the table's lock.
    public typealias Witness = @Sendable (KeptToken?, TokenKey) -> Void

    private struct State {
        var ledger = TokenLedger()
        var witness: Witness?
    }

    private let state = Locked(State())

    public init() {}

    public func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result {
        state.withLock { state in
            let result = body(&state.ledger)
            if let witness = state.witness {
                for one in state.ledger.takeChanges() { witness(one.token, one.key) }
            }
            return result
        }
    }

    /// Those that AM is to be told of at the end; they go along no more.
    func takeRevocations(by policy: TokenPolicy?) -> [Errand] {
        state.withLock { state in
            // what is revoked is not kept either; what is kept is not revoked
            let taken = state.ledger.takeRevocable(by: policy)
            if let witness = state.witness {
                for one in state.ledger.takeChanges() { witness(one.token, one.key) }
            }
            return taken
        }.compactMap { Errand(revoking: $0.grant, of: $0.source) }
    }

    /// - Parameters:
    ///   - all: tells of what there is already, too.
    ///   - witness: from here on.
    public func observe(all: Bool, _ witness: @escaping Witness) {
        state.withLock { state in
            state.witness = witness
            state.ledger.noteChanges()
            let changes = state.ledger.takeChanges()
            for one in all ? state.ledger.all : changes { witness(one.token, one.key) }
        }
    }
}
