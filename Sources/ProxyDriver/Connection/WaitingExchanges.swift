import EventLoop
import ProxyCore

/// The exchanges of one loop that wait for something that is decided for all loops, by what each waits for: the loop is told
/// of it by its mailbox.
final class WaitingExchanges<Key: Hashable & Sendable> {
    private struct Waiting {
        /// An exchange gives its place up before its connection goes.
        unowned let connection: Connection
        let exchange: ExchangeID
    }

    /// Whoever decides posts here what was decided.
    let mailbox: Mailbox<Key>
    private var port: EventSource?
    private var waiting: [Key: Waiting] = [:]

    /// - Parameter tell: tells the connection that its exchange need not wait any longer.
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
