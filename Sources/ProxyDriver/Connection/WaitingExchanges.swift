import EventLoop
import ProxyCore

/// The exchanges of one loop that wait for a shared decision, by key. Decisions arrive through a mailbox.
final class WaitingExchanges<Key: Hashable & Sendable> {
    private struct Waiting {
        /// An exchange is removed before its connection ends.
        unowned let connection: Connection
        let exchange: ExchangeID
    }

    /// The mailbox that receives the keys of decisions.
    let mailbox: Mailbox<Key>
    private var port: EventSource?
    private var waiting: [Key: Waiting] = [:]

    /// - Parameter tell: notifies the connection that the wait is over.
    init(loop: Loop, tell: @escaping (Connection, ExchangeID) -> Void) throws(SystemError) {
        mailbox = try Mailbox()
        port = try MailboxPort(loop: loop, mailbox) { [unowned self] key in
            if let found = waiting.removeValue(forKey: key) { tell(found.connection, found.exchange) }
        }
    }

    func register(_ key: Key, of exchange: ExchangeID, for connection: Connection) {
        waiting[key] = Waiting(connection: connection, exchange: exchange)
    }

    func forget(_ key: Key) { waiting[key] = nil }
}
