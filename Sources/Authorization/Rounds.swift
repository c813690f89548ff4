/// Counts the step-ups of one exchange. Only the replay proves that one succeeded, and a refused transaction comes back
/// as a new one, so that without a count it never ends (docs/protocol.md#how-it-ends).
public struct Rounds: Sendable {
    private var upgrades: Int
    private var transactions: Int
    private var canAskAgain = true

    public init(_ policy: AuthorizationPolicy) {
        upgrades = policy.upgradeRounds
        transactions = policy.transactionRounds
    }

    /// Why no step-up may start for this advice, one sentence; nil where it may. An advice of both kinds needs a round
    /// of each.
    public func refusal(of advice: Advice) -> String? {
        if advice.isUpgrade, upgrades <= 0 { return "the resource asks for another upgrade after the last one allowed" }
        if advice.isTransaction, transactions <= 0 {
            return "the resource asks for another transaction after the last one allowed"
        }
        return nil
    }

    /// Counts a step-up that starts.
    public mutating func begin(_ advice: Advice) {
        if advice.isUpgrade { upgrades -= 1 }
        if advice.isTransaction { transactions -= 1 }
    }

    /// Whether the resource may be asked once more for a new id, after AM could not read the one it gave. Once in an
    /// exchange; the rounds that this advice used are given back, for no step-up took place.
    public mutating func askAgain(after advice: Advice) -> Bool {
        guard canAskAgain else { return false }
        canAskAgain = false
        giveBack(advice)
        return true
    }

    /// No step-up took place for an advice that was counted.
    public mutating func giveBack(_ advice: Advice) {
        if advice.isUpgrade { upgrades += 1 }
        if advice.isTransaction { transactions += 1 }
    }
}
