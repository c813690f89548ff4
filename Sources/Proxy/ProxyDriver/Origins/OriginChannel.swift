import EventLoop
internal import HTTPCodec
import ProxyCore
import TLSEngine

/// Holds idle origin connections.
protocol ChannelKeeper: AnyObject {
    /// Drops a connection that the origin closed or sent unexpected data on.
    func discard(_ channel: OriginChannel)
}

/// An origin's socket: dialed, leased, or idle in the pool.
final class OriginChannel: StreamChannel {
    /// The key in the pool.
    private(set) var origin: Origin
    @Unretained var dial: Dial?
    /// The keeper while it is idle.
    unowned var keeper: (any ChannelKeeper)?
    /// True if it carries one client's identity.
    var isBound = false
    /// True if it must not be reused: a write failed, or it received unexpected data.
    var isSpent = false
    var idleSince = 0
    /// Its HTTP/1 stream, if it is not shared.
    let http1 = HTTP1Stream()
    /// Its streams, if it is shared.
    private(set) var shared: SharedStreams?
    /// True if the origin sends no more.
    var hasEnded = false

    private let security: WorkerTLS
    /// The generation of the configuration at the dial, by which the address was allowed and TLS is negotiated.
    private let generation: Int

    init(loop: Loop, security: WorkerTLS, origin: Origin, descriptor: consuming Descriptor, connecting: Bool)
        throws(SystemError)
    {
        self.origin = origin
        self.security = security
        generation = security.generation
        try super.init(loop: loop, bufferPool: security.bufferPool, descriptor: descriptor, connecting: connecting)
    }

    /// The in-memory end that replaces an origin for a connection in a stream.
    init(loop: Loop, security: WorkerTLS, end: MemoryEnd) {
        origin = Origin(scheme: .http, host: "", port: 0)
        self.security = security
        generation = security.generation
        super.init(loop: loop, bufferPool: security.bufferPool, end: end)
    }

    /// The codec of its messages.
    var codec: ClientCodec { if let shared { .http2(shared) } else { .http1(self) } }

    /// Makes it a shared connection, whose streams the pool lends.
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
            // a session ticket may arrive late
        } else {
            keeper?.discard(self)
        }
    }

    /// Reassigns the connection to another origin key, for which TLS follows.
    func turn(to origin: Origin) { self.origin = origin }

    /// Starts TLS under the current configuration.
    func secure(speaking protocols: [ApplicationProtocol]) throws(TLSFault) -> Received {
        add(try security.stream(to: origin, speaking: protocols))
    }

    /// True if the configuration has not changed since the dial.
    var isCurrent: Bool { generation == security.generation }

    /// True if another request may be sent.
    var isReusable: Bool {
        // unexpected bytes would be read as the next response
        !isSpent && !isClosed && !holdsBack && queuedBytes == 0 && isCurrent && !(mayHoldMore && holdsUnread)
    }

    /// Receives, and stores new TLS sessions for resumption.
    func receiveResponse() -> Received {
        let received = receive()
        if let session = stream?.takeSession(), isCurrent { security.keep(session, for: origin) }
        return received
    }

    override func connected(_ error: SystemError?) { dial?.connected(self, error) }

    /// Closes a connection that is not needed.
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
