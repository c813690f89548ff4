import Interception

/// A credential store for one run without a network, which no other exchange shares.
final class DryCredentials<Ledger: CredentialKeeper>: CredentialStore {
    typealias Value = Ledger.Value

    private var ledger = Ledger()

    func change<Result>(_ body: (inout CredentialLedger<Value>) -> Result) -> Result { ledger.changeCredentials(body) }
    func enter(_ obstacle: CredentialLedger<Value>.Obstacle) -> WaitingTicket? { nil }
    func leave(_ ticket: WaitingTicket) {}
    func isAwaited(_ key: Value.Key) -> Bool { false }
}

typealias DryTokens = DryCredentials<TokenLedger>

extension DryTokens: TokenStore {
    func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result { body(&ledger) }
}
