import Authorization

/// A flight store for one run without a network, which no other exchange shares.
final class DryFlights<Value: Sendable>: FlightStore {
    private var ledger: FlightLedger<Value, Void>

    init(_ kind: FlightTicket.Kind) { ledger = FlightLedger(kind) }

    private static func key(_ material: [UInt8]) -> UInt128 { UInt128(UInt(bitPattern: material.hashValue)) }

    func ask(_ material: [UInt8], mark: Int, refused: ((Value) -> Bool)?) -> FlightAnswer<Value> {
        ledger.ask(Self.key(material), mark: mark, refused: refused, (), now: 0)
    }
    func look(_ ticket: FlightTicket) -> FlightLook<Value> { ledger.look(ticket) }
    func won(_ ticket: FlightTicket, _ value: Value, due: Int, lasts: Int) {
        _ = ledger.won(ticket, value, dueAt: due, until: lasts, now: 0)
    }
    func failed(_ ticket: FlightTicket, _ reason: String, for time: Int) {
        _ = ledger.failed(ticket, reason, until: time, now: 0)
    }
    func leave(_ ticket: FlightTicket) { _ = ledger.leave(ticket, now: 0) }
    func isAwaited(_ ticket: FlightTicket) -> Bool { ledger.isAwaited(ticket) }
    func change(_ material: [UInt8], _ change: (Value) -> Value?) { ledger.change(Self.key(material), change) }
    func isBusy(_ mark: Int) -> Bool { ledger.isBusy(mark) }
    func first(_ isIt: (Value) -> Bool) -> Value? { ledger.first(now: 0, isIt) }
    func forget(_ isOver: (Value) -> Bool) { ledger.forget { isOver($1) } }
}

/// A store of learned sessions that stays empty.
final class DryLearned: LearnedStore {
    func find(_ client: LearnedClient, at server: String) -> LearnedSessions.Found? { nil }
    func learn(_ news: LearnedSessions.News, of client: LearnedClient, at server: String, for time: Int) {}
    func forget(_ client: LearnedClient, at server: String) {}
    func ended(_ session: String) {}
    func replaced(_ session: String, by other: SessionSource) {}
}

extension SessionStores {
    static var dry: SessionStores {
        SessionStores(upgrades: DryFlights(.upgrade), own: DryFlights(.login), learned: DryLearned())
    }
}
