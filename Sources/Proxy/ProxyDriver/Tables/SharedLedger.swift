public import EventLoop
public import Interception
internal import TLSEngine

/// A loop's mailbox for the tickets of exchanges that need not wait any longer.
public typealias WaitingPort = Mailbox<WaitingTicket>

/// A ledger of all loops and generations of the configuration. Keys in it are digests.
public final class SharedLedger<Ledger: Sendable>: Sendable {
    private let ledger: Locked<Ledger>
    private let keyed = KeyedDigest()

    init(_ ledger: Ledger) { self.ledger = Locked(ledger) }

    /// A digest that reveals nothing; nil if it cannot be made.
    func digest(_ bytes: [UInt8]) -> UInt128? { keyed.tableKey(bytes) }

    public func change<Result>(_ body: (inout Ledger) -> Result) -> Result { ledger.withLock(body) }

    /// Changes the ledger, and notifies the loops of the waiters that it returns.
    func tell<Result, Fault: Error>(
        _ body: (inout Ledger) throws(Fault) -> (Result, [(WaitingTicket, WaitingPort)])
    ) throws(Fault) -> Result {
        let (result, turns) = try ledger.withLock(body)
        for (ticket, port) in turns { port.post(ticket) }
        return result
    }

    func tell(_ body: (inout Ledger) -> [(WaitingTicket, WaitingPort)]) { tell { ((), body(&$0)) } }

    /// The time that the ledgers of all loops count in.
    var now: Int { Loop.monotonicMilliseconds() }
}
