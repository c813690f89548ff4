import EventLoop
import Interception
import ProxyCore

/// Runs interceptors in Swift off the loop, each call in its own task, and returns the result to the loop. Code that throws,
/// never ends or ends twice affects only the waiting exchange.
final class CodeRunner {
    private struct Waiting {
        let connection: Connection
        let exchange: ExchangeID
        /// Nil for a script, which its own process runs.
        let task: Task<Void, Never>?
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
    /// The running tasks, including those whose result nobody waits for.
    private var running = 0

    /// The limit of running tasks, because a task may ignore its cancellation.
    private static let most = 4096

    init(loop: Loop, report: LoopReport) throws(SystemError) {
        self.report = report
        messages = try Mailbox()
        port = try MailboxPort(loop: loop, messages) { [unowned self] in receive($0) }
    }

    /// - Returns: the result if it is known at once; else the connection is told later.
    func start(_ call: SwiftCall, of id: ExchangeID, for connection: Connection) -> SwiftAnswer? {
        guard running < Self.most else { return .failed("is at work for \(running) exchanges already") }
        running += 1
        nextTicket += 1
        let ticket = nextTicket
        let messages = messages
        if call.ask({ messages.post(.answer($0, ticket: ticket)) }) {
            waiting[ticket] = Waiting(connection: connection, exchange: id, task: nil)
            return nil
        }
        let task = Task.detached {
            let answer = await call.answer {
                messages.post(.repeated("\(call.words) completed more than once; the first time counts"))
            }
            messages.post(.answer(answer, ticket: ticket))
        }
        waiting[ticket] = Waiting(connection: connection, exchange: id, task: task)
        return nil
    }

    /// Cancels the calls of an exchange.
    func cancel(_ id: ExchangeID, of connection: Connection) {
        cancel { $0.connection === connection && $0.exchange == id }
    }

    func cancel(allOf connection: Connection) { cancel { $0.connection === connection } }

    private func cancel(where isMeant: (Waiting) -> Bool) {
        for (ticket, one) in waiting where isMeant(one) {
            waiting[ticket] = nil
            one.task?.cancel()
        }
    }

    private func receive(_ message: Message) {
        switch message {
        case .repeated(let words): report.warn(words)
        case .answer(let answer, let ticket):
            running -= 1
            guard let waiting = waiting.removeValue(forKey: ticket) else { return }
            waiting.connection.happened(.intercepted(answer), to: waiting.exchange)
        }
    }
}
