import Authorization
import EventLoop
import ProxyCore

/// Notifies one loop's exchanges of results from other loops. The mailbox is made for the first exchange that may wait.
final class FlightBell {
    private unowned let loop: Loop
    private var made: WaitingExchanges<FlightTicket>?

    init(loop: Loop) { self.loop = loop }

    /// Nil if the system has no room for it.
    var mailbox: Mailbox<FlightTicket>? {
        if made == nil { made = try? WaitingExchanges(loop: loop) { $0.flightCame($1) } }
        return made?.mailbox
    }

    func register(_ ticket: FlightTicket, of id: ExchangeID, for connection: Connection) {
        made?.register(ticket, of: id, for: connection)
    }

    func forget(_ ticket: FlightTicket) { made?.forget(ticket) }
}

/// One loop's access to the flights of all loops.
final class FlightDesk<Value: Sendable>: FlightStore {
    private let table: FlightTable<Value>
    private let bell: FlightBell

    init(_ table: FlightTable<Value>, _ bell: FlightBell) {
        self.table = table
        self.bell = bell
    }

    func ask(_ material: [UInt8], mark: Int, refused: ((Value) -> Bool)?) -> FlightAnswer<Value> {
        guard let port = bell.mailbox else { return .alone }
        return table.ask(material, mark: mark, refused: refused, port)
    }

    func look(_ ticket: FlightTicket) -> FlightLook<Value> { table.look(ticket) }

    func won(_ ticket: FlightTicket, _ value: Value, due: Int, lasts: Int) {
        table.won(ticket, value, due: due, lasts: lasts)
    }

    func failed(_ ticket: FlightTicket, _ reason: String, for time: Int) { table.failed(ticket, reason, for: time) }

    func leave(_ ticket: FlightTicket) {
        bell.forget(ticket)
        table.leave(ticket)
    }

    func isAwaited(_ ticket: FlightTicket) -> Bool { table.isAwaited(ticket) }
    func change(_ material: [UInt8], _ change: (Value) -> Value?) { table.change(material, change) }
    func isBusy(_ mark: Int) -> Bool { table.isBusy(mark) }
    func first(_ isIt: (Value) -> Bool) -> Value? { table.first(isIt) }
    func forget(_ isOver: (Value) -> Bool) { table.forget(isOver) }
}
