import Authorization

/// A credential store for one run without a network, which no other exchange shares.
final class DryCredentials<Value: Credential>: CredentialStore {
    private var ledger = CredentialLedger<Value>()

    func change<Result>(_ body: (inout CredentialLedger<Value>) -> Result) -> Result { body(&ledger) }
    func enter(_ obstacle: CredentialLedger<Value>.Obstacle) -> WaitingTicket? { nil }
    func leave(_ ticket: WaitingTicket) {}
    func isAwaited(_ key: Value.Key) -> Bool { false }
}
