import EventLoop
import Interception
import ProxyCore

/// Runs code of others off the loop, each call as a task of its own, and has the loop told what it came to. What throws,
/// never ends or ends twice costs the exchange that waits for it, and nothing else.
final class CodeRunner {
    private struct Waiting {
        let connection: Connection
        let exchange: ExchangeID
        let task: Task<Void, Never>
    }

    private enum Message: Sendable {
        case answer(SwiftAnswer, ticket: UInt64)
        case repeated(String)
    }

    private let report: LoopReport
    private let messages: Mailbox<Message>
    private var port: EventSource?
    private var waiting: [UInt64: Waiting] = [:]
    private var nextTicket: UInt64 = 0
    /// Tasks that have not ended, be it that nobody waits for them any more.
    private var running = 0

    /// One that does not heed that it is cancelled goes on for as long as it likes.
    private static let most = 4096

    init(loop: Loop, report: LoopReport) throws(SystemError) {
        self.report = report
        messages = try Mailbox()
        port = try MailboxPort(loop: loop, messages) { [unowned self] in receive($0) }
    }

    /// - Returns: what it came to where that is clear at once; else the connection is told later.
    func start(_ call: SwiftCall, of id: ExchangeID, for connection: Connection) -> SwiftAnswer? {
        guard running < Self.most else { return .failed("is at work for \(running) exchanges already") }
        running += 1
        nextTicket += 1
        let ticket = nextTicket
        let messages = messages
        let task = Task.detached {
            let answer = await call.answer {
                messages.post(.repeated("\(call.words) completed more than once; the first time counts"))
            }
            messages.post(.answer(answer, ticket: ticket))
        }
        waiting[ticket] = Waiting(connection: connection, exchange: id, task: task)
        return nil
    }

    /// Nobody waits for what an exchange had begun.
    func cancel(_ id: ExchangeID, of connection: Connection) {
        cancel { $0.connection === connection && $0.exchange == id }
    }

    func cancel(allOf connection: Connection) { cancel { $0.connection === connection } }

    private func cancel(where isMeant: (Waiting) -> Bool) {
        for (ticket, one) in waiting where isMeant(one) {
            waiting[ticket] = nil
            one.task.cancel()
        }
    }

    private func receive(_ message: Message) {
        switch message {
        case .repeated(let words): report.warn(words)
        case .answer(let answer, let ticket):
            running -= 1
            guard let waiting = waiting.removeValue(forKey: ticket) else { return }
            waiting.connection.intercepted(answer, waiting.exchange)
        }
    }
}
