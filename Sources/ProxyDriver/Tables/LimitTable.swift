internal import EventLoop
internal import Interception
internal import ProxyCore

/// The counts of the interceptors' limits, for all loops and generations of the configuration. It notifies the loop of a waiting
/// exchange when its turn comes.
public final class LimitTable: Sendable {
    typealias Port = Mailbox<LimitTicket>

    private let ledger = Locked(LimitLedger<Port>())

    public init() {}

    func ask(
        _ key: LimitKey, _ policy: LimitPolicy, _ port: Port
    ) -> (ticket: LimitTicket?, answer: LimitAnswer) {
        let asked = ledger.withLock { $0.ask(key, policy, port, now: Loop.monotonicMilliseconds()) }
        tell(asked.turns)
        return (asked.ticket, asked.answer)
    }

    func look(_ ticket: LimitTicket) -> LimitAnswer {
        let looked = ledger.withLock { $0.look(ticket, now: Loop.monotonicMilliseconds()) }
        tell(looked.turns)
        return looked.answer
    }

    func leave(_ ticket: LimitTicket) {
        tell(ledger.withLock { $0.leave(ticket, now: Loop.monotonicMilliseconds()) })
    }

    private func tell(_ turns: [(LimitTicket, Port)]) {
        for (ticket, port) in turns { port.post(ticket) }
    }
}
