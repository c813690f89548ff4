import EventLoop
import Interception
import ProxyCore

/// The exchanges of one loop that wait for other exchanges, for limits and for persons. Their tickets arrive through a mailbox.
final class WaitingExchanges {
    private struct Waiting {
        /// An exchange is removed before its connection ends.
        unowned let connection: Connection
        let exchange: ExchangeID
    }

    let mailbox: WaitingPort
    private var port: EventSource?
    private var waiting: [WaitingTicket: Waiting] = [:]

    init(loop: Loop) throws(SystemError) {
        mailbox = try Mailbox()
        port = try MailboxPort(loop: loop, mailbox) { [unowned self] ticket in
            if let found = waiting.removeValue(forKey: ticket) {
                found.connection.happened(.ticketCame(ticket), to: found.exchange)
            }
        }
    }

    func register(_ ticket: WaitingTicket, of exchange: ExchangeID, for connection: Connection) {
        waiting[ticket] = Waiting(connection: connection, exchange: exchange)
    }

    func forget(_ ticket: WaitingTicket) { waiting[ticket] = nil }
}
