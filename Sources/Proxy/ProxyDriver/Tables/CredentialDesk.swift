internal import Authorization
internal import Interception
public import ProxyCore

/// Credentials that each loop's exchanges fetch for those of all loops.
typealias CredentialTable<Value: Credential> = SharedLedger<SharedCredentials<CredentialLedger<Value>, WaitingPort>>
public typealias TokenTable = SharedLedger<SharedCredentials<TokenLedger, WaitingPort>>

/// One loop's access to the credentials of all loops.
final class CredentialDesk<Ledger: CredentialKeeper>: Desk<SharedCredentials<Ledger, WaitingPort>>, CredentialStore {
    typealias Value = Ledger.Value

    func change<Result>(_ body: (inout CredentialLedger<Value>) -> Result) -> Result {
        table.tell { $0.change { $0.changeCredentials(body) } }
    }

    func enter(_ obstacle: CredentialLedger<Value>.Obstacle) -> WaitingTicket? {
        table.change { $0.line.enter(obstacle, port) }
    }

    func leave(_ ticket: WaitingTicket) {
        waiting.forget(ticket)
        table.tell { $0.line.leave(ticket) }
    }

    func isAwaited(_ key: Value.Key) -> Bool { table.change { $0.line.isAwaited(key) } }
}

extension CredentialDesk<TokenLedger>: TokenStore {
    func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result { table.changeTokens(body) }
}

extension TokenTable {
    public func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result { tell { $0.change(body) } }

    /// Removes the tokens to revoke at the end, as background calls.
    func takeRevocations(by policy: TokenPolicy?) -> [BackgroundCall] {
        // a token is either revoked or stored
        changeTokens { $0.takeRevocable(by: policy) }.compactMap { BackgroundCall(revoking: $0.grant, of: $0.source) }
    }

    /// - Parameters:
    ///   - all: the witness gets the existing tokens, too.
    ///   - witness: gets every token that changes from now on, or nil for a removed one, under the table's lock.
    public func observe(all: Bool, _ witness: @escaping @Sendable (KeptToken?, TokenKey) -> Void) {
        change { tokens in
            _ = tokens.change { ledger in
                ledger.noteChanges()
                if all { for one in ledger.all { witness(one.token, one.key) } }
            }
            tokens.observe { ledger in for one in ledger.takeChanges() { witness(one.token, one.key) } }
        }
    }
}
