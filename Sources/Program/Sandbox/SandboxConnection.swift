internal import EventLoop
internal import HTTPCodec
internal import TLSEngine

/// One client connection: it reads requests and writes responses, one after the other.
final class SandboxConnection: Channel {
    private enum State {
        case reading
        /// The response is delayed until the timer fires.
        case waiting
        /// The last response is written. Further input is dropped, so that closing does not destroy the response.
        case ending
    }

    private let context: SandboxContext
    /// Nil before the ClientHello, and without TLS.
    private var stream: TLSStream?
    private var codec: SandboxCodec
    private var input: [UInt8] = []
    private var state = State.reading
    private var peerEnded = false
    private var timer: Timer?
    /// The idle timeout in monotonic milliseconds.
    private(set) var deadline = 0

    private static let idleLimit = 75_000
    private static let endLimit = 2000
    /// The limit of queued response bytes, above which no more requests are read.
    private static let highWater = 1 << 20

    init(context: SandboxContext, descriptor: consuming Descriptor) throws(SystemError) {
        self.context = context
        codec = SandboxCodec(maxBody: context.options.maxBodyBytes, scheme: context.security == nil ? .http : .https)
        try super.init(loop: context.loop, descriptor: descriptor)
        deadline = loop.now + Self.idleLimit
    }

    // MARK: channel events

    override func readable() {
        loop.refreshNow()
        // a client that keeps sending after the end does not extend the connection
        if state != .ending { deadline = loop.now + Self.idleLimit }
        switch read() {
        case .bytes(let count):
            guard state != .ending else { return }
            receive(loop.received(0..<count))
        case .wouldBlock: break
        case .end: peerHasEnded()
        case .failed: end()
        }
    }

    private func peerHasEnded() {
        peerEnded = true
        stopReading()
        // deliver a pending response: the client may have closed its side only
        if state != .waiting, queuedBytes == 0 { end() }
    }

    override func progressed() { deadline = loop.refreshNow() + Self.idleLimit }

    override func drained() {
        if state == .ending { deadline = loop.now + Self.endLimit }
        if peerEnded, state != .waiting { return end() }
        guard state == .reading else { return }
        startReading()
        takeRequests()
    }

    override func writeFailed(_ error: SystemError) { end() }

    // MARK: TLS

    private func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let security = context.security else {
            input += bytes
            return takeRequests()
        }
        if let stream { return open(UnsafeRawBufferPointer(bytes), stream, security.buffers) }
        // only the ClientHello is read, nothing is decrypted yet
        input += bytes
        let received = input
        switch ClientHello.peek(received.span) {
        case .needsMore: return
        case .notTLS, .malformed, .tooLarge: return end()
        case .hello(let hello):
            guard let stream = security.stream(showing: hello.serverName ?? ownAddress) else { return end() }
            self.stream = stream
            input = []
            received.withUnsafeBytes { open($0, stream, security.buffers) }
        }
    }

    private var ownAddress: String { localAddress?.host ?? "localhost" }

    private func open(_ records: UnsafeRawBufferPointer, _ stream: TLSStream, _ buffers: TLSBuffers) {
        stream.received(records, buffers)
        input += buffers.decrypted
        // also after a failure, to send the alert
        transmit(buffers)
        guard !isClosed else { return }
        if !input.isEmpty { takeRequests() }
        guard !isClosed else { return }
        switch stream.state {
        case .handshaking, .open: break
        case .ended: peerHasEnded()
        case .failed: end()
        }
    }

    private func transmit(_ buffers: TLSBuffers) {
        defer { buffers.clearRecords() }
        if !write(buffers.records) { end() }
    }

    /// Sends close_notify, so that the client does not assume a truncation.
    private func sendCloseNotify() {
        guard let stream, let security = context.security else { return }
        stream.finish(security.buffers)
        write(security.buffers.records)
        security.buffers.clearRecords()
    }

    // MARK: requests

    private func takeRequests() {
        while state == .reading, !isClosed {
            guard queuedBytes < Self.highWater else { return stopReading() }
            switch codec.next(&input) {
            case .needsMore: return
            case .expectsContinue: send(codec.goOn())
            case .refused(let status, let reason):
                context.log("malformed request → \(status) · \(reason)")
                write(SandboxResponse.text(status, reason + "\n", note: reason))
            case .request(let request):
                let response = context.answer(request)
                if response.delay > 0 { hold(response) } else { write(response) }
            }
        }
    }

    private func hold(_ response: SandboxResponse) {
        state = .waiting
        stopReading()
        timer = try? Timer(loop: loop, everyMilliseconds: response.delay) { [unowned self] in
            release(response)
        }
        // without a timer, respond at once
        if timer == nil { release(response) }
    }

    private func release(_ response: SandboxResponse) {
        timer?.cancel()
        timer = nil
        state = .reading
        loop.refreshNow()
        write(response)
        guard !isClosed, state == .reading else { return }
        if peerEnded {
            if queuedBytes == 0 { end() }
            return
        }
        startReading()
        takeRequests()
    }

    private func write(_ response: SandboxResponse) {
        guard !response.resets else { return breakOff() }
        let (message, ends) = codec.answer(response, now: context.wallClock)
        if ends { state = .ending }
        send(message)
        guard ends, !isClosed else { return }
        deadline = loop.now + (queuedBytes == 0 ? Self.endLimit : Self.idleLimit)
        sendCloseNotify()
        finishWriting()
        if peerEnded, queuedBytes == 0 { end() }
    }

    private func send(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { plain in
            guard let stream, let security = context.security else {
                if !write(plain) { end() }
                return
            }
            if stream.send(plain, security.buffers) { transmit(security.buffers) } else { end() }
        }
    }

    // MARK: the end

    /// Resets the connection, as a crashed program would.
    private func breakOff() {
        guard !isClosed else { return }
        timer?.cancel()
        timer = nil
        reset()
        context.forget(self)
    }

    func end() {
        guard !isClosed else { return }
        timer?.cancel()
        timer = nil
        if state != .ending { sendCloseNotify() }
        // close first: the loop keeps a closed channel until the end of the turn, and the context has the only reference
        close()
        context.forget(self)
    }
}
