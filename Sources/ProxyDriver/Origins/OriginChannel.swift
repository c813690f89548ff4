import EventLoop
internal import HTTPCodec
import ProxyCore
import TLSEngine

/// Keeps idle connections to origins.
protocol ChannelKeeper: AnyObject {
    /// The origin closed the connection, or spoke without being asked.
    func discard(_ channel: OriginChannel)
}

/// An origin's socket: being made by a dial, in use by a connection, or idle in the pool.
final class OriginChannel: StreamChannel {
    /// What the pool keeps it under.
    private(set) var origin: Origin
    @Unretained var dial: Dial?
    /// Where it is idle.
    unowned var keeper: (any ChannelKeeper)?
    /// It carries the identity of one client.
    var isBound = false
    /// Not to be used for another request: writing failed, or it said more than it was asked.
    var isSpent = false
    var idleSince = 0
    /// Its stream, unless it carries many exchanges at a time.
    let http1 = HTTP1Stream()
    /// Where it does, these.
    private(set) var shared: SharedStreams?
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

    /// What stands for an origin is a connection in a stream.
    init(loop: Loop, security: WorkerTLS, end: MemoryEnd) {
        origin = Origin(scheme: .http, host: "", port: 0)
        self.security = security
        generation = security.generation
        super.init(loop: loop, bufferPool: security.bufferPool, end: end)
    }

    /// Reads and writes the messages on it.
    var codec: ClientCodec { if let shared { .http2(shared) } else { .http1(self) } }

    /// From here on it carries many exchanges at a time, and the pool lends its streams.
    func share(_ codec: any StreamClient, _ engine: Engine, from pool: OriginPool) {
        shared = SharedStreams(codec, on: self, engine, pool)
        idleSince = loop.now
        pool.share(self)
        startReading()
    }

    override func readable() {
        if let dial {
            dial.readable(self)
        } else if codec.isInUse {
            codec.readable()
        } else if case .nothing = receiveResponse() {
            // a ticket to resume by may come late
        } else {
            keeper?.discard(self)
        }
    }

    /// It stands, and is for that origin from here on, to which something else will be spoken.
    func turn(to origin: Origin) { self.origin = origin }

    /// Begins TLS by the rules that are in force.
    func secure(speaking protocols: [ApplicationProtocol]) throws(TLSFault) -> Received {
        add(try security.stream(to: origin, speaking: protocols))
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

    /// It will not be used after all.
    func abandon() {
        dial = nil
        close()
    }

    override func progressed() { codec.progressed() }
    override func drained() { codec.drained() }
    override func queueGrew() { codec.drained() }

    override func writeFailed(_ error: SystemError) {
        isSpent = true
        codec.writeFailed()
    }

    override func readingRefused() {
        if let dial {
            dial.readingRefused(self)
        } else if codec.isInUse {
            codec.broke()
        } else {
            keeper?.discard(self)
        }
    }
}
