public import Interception

/// A ledger of credentials, or of credentials and what belongs to them (`TokenLedger`).
public protocol CredentialKeeper: Sendable {
    associatedtype Value: Credential

    init()
    mutating func changeCredentials<Result>(_ body: (inout CredentialLedger<Value>) -> Result) -> Result
}

extension CredentialLedger: CredentialKeeper {
    public mutating func changeCredentials<Result>(_ body: (inout Self) -> Result) -> Result { body(&self) }
}

/// A ledger of credentials with the line of those who wait for them.
public struct SharedCredentials<Ledger: CredentialKeeper, Waiter> {
    private var ledger = Ledger()
    public var line: WaitingLine<Ledger.Value, Waiter>
    /// Sees the ledger after each change.
    private var witness: (@Sendable (inout Ledger) -> Void)?

    /// - Parameter capacity: how many may wait.
    public init(_ kind: WaitingTicket.Kind, capacity: Int = 4096) { line = WaitingLine(kind, capacity: capacity) }

    /// - Returns: also the waiters to notify, as fetches have ended.
    public mutating func change<Result>(
        _ body: (inout Ledger) -> Result
    ) -> (result: Result, turns: [(WaitingTicket, Waiter)]) {
        let result = body(&ledger)
        witness?(&ledger)
        return (result, ledger.changeCredentials { $0.takeEnded() }.flatMap { line.ended($0) })
    }

    /// Has this see the ledger now, and after each change.
    public mutating func observe(_ witness: @escaping @Sendable (inout Ledger) -> Void) {
        self.witness = witness
        witness(&ledger)
    }
}

extension SharedCredentials: Sendable where Waiter: Sendable {}
