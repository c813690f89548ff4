/// Counts the step-ups of one exchange. Only the replay proves a success, and a refused transaction returns as a new one, so the
/// count prevents an endless loop (docs/protocol.md#how-it-ends).
public struct Rounds: Sendable {
    private var upgrades: Int
    private var transactions: Int
    private var canAskAgain = true

    public init(_ policy: AuthorizationPolicy) {
        upgrades = policy.upgradeRounds
        transactions = policy.transactionRounds
    }

    /// The reason why no step-up may start for this advice, as one sentence; nil if it may. An advice of both kinds uses a
    /// round of each.
    public func refusal(of advice: Advice) -> String? {
        if advice.isUpgrade, upgrades <= 0 { return "the resource asks for another upgrade after the last one allowed" }
        if advice.isTransaction, transactions <= 0 {
            return "the resource asks for another transaction after the last one allowed"
        }
        return nil
    }

    /// Counts a step-up at its start.
    public mutating func begin(_ advice: Advice) {
        if advice.isUpgrade { upgrades -= 1 }
        if advice.isTransaction { transactions -= 1 }
    }

    /// Whether to ask the resource once more for a new id after AM could not read its id. Allowed once in an exchange. The
    /// advice's rounds are refunded, because no step-up took place.
    public mutating func askAgain(after advice: Advice) -> Bool {
        guard canAskAgain else { return false }
        canAskAgain = false
        giveBack(advice)
        return true
    }

    /// Refunds the rounds of an advice without a step-up.
    public mutating func giveBack(_ advice: Advice) {
        if advice.isUpgrade { upgrades += 1 }
        if advice.isTransaction { transactions += 1 }
    }
}
