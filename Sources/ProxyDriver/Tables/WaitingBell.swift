import Authorization
import EventLoop
import ProxyCore

/// Wakes one loop's exchanges that wait for other loops. The mailbox is made for the first exchange that may wait.
final class WaitingBell {
    private unowned let loop: Loop
    private var made: WaitingExchanges<WaitingTicket>?

    init(loop: Loop) { self.loop = loop }

    /// Nil if the system has no room for it.
    var mailbox: Mailbox<WaitingTicket>? {
        if made == nil { made = try? WaitingExchanges(loop: loop) { $0.happened(.waitEnded, to: $1) } }
        return made?.mailbox
    }

    func register(_ ticket: WaitingTicket, of id: ExchangeID, for connection: Connection) {
        made?.register(ticket, of: id, for: connection)
    }

    func forget(_ ticket: WaitingTicket) { made?.forget(ticket) }
}
