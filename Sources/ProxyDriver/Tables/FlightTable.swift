internal import Authorization
internal import EventLoop
internal import TLSEngine

/// Work that is done once for all loops, with its results for a while. It notifies the loop of each waiting exchange. It
/// identifies work by digests only.
final class FlightTable<Value: Sendable>: Sendable {
    typealias Port = Mailbox<FlightTicket>

    private let ledger: Locked<FlightLedger<Value, Port>>
    private let digest = KeyedDigest()

    init(_ kind: FlightTicket.Kind) { ledger = Locked(FlightLedger(kind)) }

    func ask(_ material: [UInt8], mark: Int, refused: ((Value) -> Bool)?, _ port: Port) -> FlightAnswer<Value> {
        // without a digest, for lack of memory, each exchange does the work itself
        guard let key = digest.tableKey(material) else { return .alone }
        return ledger.withLock { $0.ask(key, mark: mark, refused: refused, port, now: Loop.monotonicMilliseconds()) }
    }

    func look(_ ticket: FlightTicket) -> FlightLook<Value> { ledger.withLock { $0.look(ticket) } }

    func isAwaited(_ ticket: FlightTicket) -> Bool { ledger.withLock { $0.isAwaited(ticket) } }

    func won(_ ticket: FlightTicket, _ value: Value, due: Int, lasts: Int) {
        let now = Loop.monotonicMilliseconds()
        tell(ledger.withLock { $0.won(ticket, value, dueAt: now + due, until: now + lasts, now: now) })
    }

    func failed(_ ticket: FlightTicket, _ reason: String, for time: Int) {
        let now = Loop.monotonicMilliseconds()
        tell(ledger.withLock { $0.failed(ticket, reason, until: now + time, now: now) })
    }

    func leave(_ ticket: FlightTicket) {
        tell(ledger.withLock { $0.leave(ticket, now: Loop.monotonicMilliseconds()) })
    }

    func change(_ material: [UInt8], _ change: (Value) -> Value?) {
        guard let key = digest.tableKey(material) else { return }
        ledger.withLock { $0.change(key, change) }
    }

    func isBusy(_ mark: Int) -> Bool { ledger.withLock { $0.isBusy(mark) } }

    func first(_ isIt: (Value) -> Bool) -> Value? {
        ledger.withLock { $0.first(now: Loop.monotonicMilliseconds(), isIt) }
    }

    func forget(_ isOver: (Value) -> Bool) { ledger.withLock { $0.forget { isOver($1) } } }

    /// Drops the results for all other materials.
    func keep(_ materials: [[UInt8]]) {
        let keys = Set(materials.compactMap(digest.tableKey))
        ledger.withLock { $0.forget { key, _ in !keys.contains(key) } }
    }

    private func tell(_ turns: [(FlightTicket, Port)]) {
        for (ticket, port) in turns { port.post(ticket) }
    }
}
