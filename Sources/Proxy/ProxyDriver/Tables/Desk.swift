/// One loop's access to a ledger of all loops.
class Desk<Ledger: Sendable> {
    let table: SharedLedger<Ledger>
    /// The loop's exchanges that wait.
    let waiting: WaitingExchanges

    init(_ table: SharedLedger<Ledger>, _ waiting: WaitingExchanges) {
        self.table = table
        self.waiting = waiting
    }

    var port: WaitingPort { waiting.mailbox }
    var now: Int { table.now }
}
