import EventLoop
internal import HTTP1
import ProxyCore
import TLSEngine

/// A client's socket. Its connection holds it, so the way back owns nothing.
final class ClientChannel: StreamChannel {
    unowned(unsafe) var connection: Connection?

    override func readable() { connection?.clientReadable() }
    override func progressed() { connection?.progressed(.client) }
    override func drained() { connection?.clientDrained() }
    override func writeFailed(_ error: SystemError) { connection?.clientLost() }
    override func readingRefused() { connection?.clientLost() }
}

/// Keeps idle connections to origins.
protocol ChannelKeeper: AnyObject {
    /// The origin closed the connection, or spoke without being asked.
    func discard(_ channel: OriginChannel)
}

/// An origin's socket: being made by a dial, in use by a connection, or idle in the pool.
final class OriginChannel: StreamChannel {
    /// What the pool keeps it under.
    let origin: Origin
    unowned(unsafe) var connection: Connection?
    unowned(unsafe) var dial: Dial?
    /// Where it is idle.
    unowned(unsafe) var keeper: (any ChannelKeeper)?
    /// It carries the identity of one client.
    var isBound = false
    /// Not to be used for another request: writing failed, or it said more than it was asked.
    var isSpent = false
    var idleSince = 0
    /// Reads and writes the messages on it.
    var leg = HTTP1Client()
    /// What it serves.
    var exchange: ExchangeID?
    /// The origin sends no more.
    var hasEnded = false

    private let security: WorkerTLS
    /// Of the rules that were in force when it was begun: its address was judged by them, and TLS is agreed on by them.
    private let generation: Int

    init(loop: Loop, security: WorkerTLS, origin: Origin, descriptor: consuming Descriptor, connecting: Bool)
        throws(SystemError)
    {
        self.origin = origin
        self.security = security
        generation = security.generation
        try super.init(loop: loop, bufferPool: security.bufferPool, descriptor: descriptor, connecting: connecting)
    }

    override func readable() {
        if let connection {
            connection.originReadable(self)
        } else if let dial {
            dial.readable(self)
        } else if case .nothing = receiveResponse() {
            // a ticket to resume by may come late
        } else {
            keeper?.discard(self)
        }
    }

    /// Begins TLS by the rules that are in force.
    func secure() throws(TLSFault) -> Received {
        add(try security.stream(to: origin))
    }

    /// The rules that it was made by are still in force.
    var isCurrent: Bool { generation == security.generation }

    /// Another request may go out on it.
    var isReusable: Bool {
        // bytes that nobody asked for would pass for the next answer
        !isSpent && !isClosed && !holdsBack && queuedBytes == 0 && isCurrent && !(mayHoldMore && holdsUnread)
    }

    /// Receives, and keeps what the origin gives to resume by.
    func receiveResponse() -> Received {
        let received = receive()
        if let session = stream?.takeSession(), isCurrent { security.keep(session, for: origin) }
        return received
    }

    override func connected(_ error: SystemError?) { dial?.connected(self, error) }
    override func progressed() { connection?.progressed(.origin) }
    override func drained() { connection?.originDrained() }

    override func writeFailed(_ error: SystemError) {
        isSpent = true
        connection?.originWriteFailed()
    }

    override func readingRefused() {
        if let connection {
            connection.originFinished(self, cut: true)
        } else if let dial {
            dial.readingRefused(self)
        } else {
            keeper?.discard(self)
        }
    }
}
