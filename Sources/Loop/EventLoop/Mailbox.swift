internal import CLibevent
internal import Glibc

/// Passes messages between threads. The owning loop is woken once for a batch.
public final class Mailbox<Message: Sendable>: Sendable {
    private let messages: Locked<[Message]>
    fileprivate let wake: Int32

    /// - Throws: `SystemError` of `eventfd`.
    public init() throws(SystemError) {
        messages = Locked([])
        wake = usher_eventfd(0, Int32(O_NONBLOCK | O_CLOEXEC))
        guard wake >= 0 else { throw SystemError("eventfd") }
    }

    deinit { close(wake) }

    /// Posts a message, from any thread.
    public func post(_ message: Message) {
        let wasEmpty = messages.withLock { box in
            box.append(message)
            return box.count == 1
        }
        if wasEmpty { wakeUp() }
    }

    private func wakeUp() {
        var one: UInt64 = 1
        _ = Glibc.write(wake, &one, 8)
    }

    fileprivate func collect() -> [Message] {
        var count: UInt64 = 0
        _ = Glibc.read(wake, &count, 8)
        return messages.withLock { box in
            defer { box = [] }
            return box
        }
    }
}

/// The receiving end of a mailbox, on a loop.
public final class MailboxPort<Message: Sendable>: EventSource {
    private let mailbox: Mailbox<Message>
    private let receive: (Message) -> Void
    private var event: EventHandle?

    public init(
        loop: Loop, _ mailbox: Mailbox<Message>, _ receive: @escaping (Message) -> Void
    ) throws(SystemError) {
        self.mailbox = mailbox
        self.receive = receive
        super.init(loop: loop)
        var handle = try EventHandle.pointing(at: self, loop, mailbox.wake, Flag.read | Flag.persist)
        guard handle.add() else { throw SystemError("event_add") }
        event = consume handle
    }

    public override func ready(_ events: Int16) {
        loop.refreshNow()
        for message in mailbox.collect() { receive(message) }
    }
}
