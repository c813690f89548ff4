import EventLoop
import Glibc
import TLSEngine

/// A connection with up to two nested TLS layers. Its users see plain bytes.
class StreamChannel: Channel {
    enum Received {
        /// Bytes are in `incoming`.
        case bytes
        /// Input without bytes for the reader, as during a handshake.
        case nothing
        case wouldBlock
        /// The end of input. Not whole if TLS did not announce it, because it may be a truncation.
        case end(isWhole: Bool)
        case failed(TLSFault?)
    }

    private let bufferPool: TLSBufferPool

    private var layers: [TLSStream] = []
    /// The bytes received last, valid until the next read on this loop.
    private(set) var incoming = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// True if more may wait in the kernel.
    private(set) var mayHoldMore = false
    /// True if the last read was large, so that more bulk data is likely.
    private(set) var comesInBulk = false
    /// The end of input that follows the last bytes.
    private var end: Received?
    /// True once the sending side was closed.
    private(set) final var hasFinished = false
    /// The bytes to send at the end of the turn.
    private var gathered: [UInt8] = []
    /// The bytes that TLS sent by itself since the peer last received everything.
    private var untaken = 0
    /// The limit of such bytes, because a peer may request key updates without end (RFC 8446 §4.6.3).
    private static let maxUntaken = 64 << 10

    init(loop: Loop, bufferPool: TLSBufferPool, descriptor: consuming Descriptor, connecting: Bool = false)
        throws(SystemError)
    {
        self.bufferPool = bufferPool
        try super.init(loop: loop, descriptor: descriptor, connecting: connecting)
    }

    /// A connection whose peer is another connection of this loop, or nobody.
    init(loop: Loop, bufferPool: TLSBufferPool, end: MemoryEnd) {
        self.bufferPool = bufferPool
        super.init(loop: loop, end: end)
    }

    /// The innermost TLS layer.
    var stream: TLSStream? { layers.last }

    /// True during the handshake of the innermost layer.
    var isSecuring: Bool { stream?.state == .handshaking }

    // MARK: reading

    /// Reads once and decrypts.
    final func receive() -> Received {
        if let end {
            self.end = nil
            holdsBack = false
            return end
        }
        mayHoldMore = false
        switch read() {
        case .wouldBlock: return .wouldBlock
        case .failed: return .failed(nil)
        case .end: return finished()
        case .bytes(let count):
            mayHoldMore = count == Loop.scratchSize
            comesInBulk = count >= Self.minPassed
            incoming = loop.received(0..<count)
            return layers.isEmpty ? .bytes : open(from: 0)
        }
    }

    /// Adds an innermost TLS layer.
    /// - Parameter first: records that have arrived for it, at most `TLSBuffers.maxInput` bytes.
    final func add(_ stream: TLSStream, first: [UInt8] = []) -> Received {
        guard layers.count < TLSBufferPool.maxDepth else {
            return .failed(TLSFault(.local, "there is no TLS inside TLS inside TLS"))
        }
        layers.append(stream)
        let depth = layers.count - 1
        guard !first.isEmpty else {
            stream.begin(bufferPool[depth])
            return transmit(from: depth) ? .nothing : .failed(.closedInHandshake)
        }
        return first.withUnsafeBufferPointer {
            incoming = $0
            return open(from: depth)
        }
    }

    /// The minimum for splicing; smaller amounts are cheaper to read and write.
    private static let minPassed = 16 << 10

    /// Splices bytes to another channel in the kernel, if neither has TLS and the last read was large.
    /// - Returns: nil if the bytes have to be received and sent.
    final func pass(to other: StreamChannel, atMost limit: Int) -> PassOutcome? {
        guard comesInBulk, limit >= Self.minPassed, layers.isEmpty, other.layers.isEmpty, !holdsBack else { return nil }
        let outcome = pass(to: other as Channel, atMost: limit)
        if case .bytes(let count, _) = outcome {
            mayHoldMore = count >= Self.minPassed
            comesInBulk = mayHoldMore
        }
        return outcome
    }

    private func open(from first: Int) -> Received {
        #if DEBUG
            if loop.injectsFault(.tlsOpen) { return .failed(Self.noMemory) }
        #endif
        // the end after the bytes; the innermost layer decides
        var end: Received?
        for depth in first..<layers.count {
            let stream = layers[depth]
            let buffers = bufferPool[depth]
            stream.received(UnsafeRawBufferPointer(incoming), buffers)
            incoming = buffers.decrypted.bindMemory(to: UInt8.self)
            untaken = queuedBytes == 0 ? 0 : untaken + buffers.records.count
            // also after a failure, to send the alert
            let isHeard = transmit(from: depth)
            switch stream.state {
            case .open:
                guard untaken > Self.maxUntaken else { break }
                end = .failed(TLSFault(.protocolError, "it asks for new keys again and again, and takes none"))
            case .handshaking: return end ?? (isHeard ? .nothing : .failed(.closedInHandshake))
            // an inner layer has not announced the end, so it may be a truncation
            case .ended: end = .end(isWhole: depth == layers.count - 1)
            case .failed(let fault): end = .failed(fault)
            }
            if incoming.isEmpty { return end ?? .nothing }
        }
        // an end after bytes is reported after they were used
        if let end {
            self.end = end
            holdsBack = true
        }
        return .bytes
    }

    /// The socket was closed without an announcement by TLS.
    private func finished() -> Received {
        guard let stream else { return .end(isWhole: true) }
        return stream.state == .handshaking ? .failed(.closedInHandshake) : .end(isWhole: false)
    }

    #if DEBUG
        /// The simulated OpenSSL fault of a fault plan.
        private static let noMemory = TLSFault(.local, "there is no memory for a TLS record")
    #endif

    // MARK: writing

    /// Sends what the kernel accepts and queues the rest.
    /// - Returns: false if the peer is gone.
    @discardableResult
    final func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard sendGathered() else { return false }
        return sendNow(bytes)
    }

    /// Collects bytes and sends them with one call at the end of the turn. The small pieces of concurrent exchanges leave
    /// together in one record.
    /// - Returns: false if the peer is known to be gone; later failures are reported by `writeFailed`.
    final func gather(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !isClosed else { return false }
        if gathered.isEmpty {
            gathered = bufferPool.takeSpare()
            loop.tellAtEnd(self)
        }
        gathered.append(contentsOf: bytes)
        return gathered.count < Self.mostGathered || sendGathered()
    }

    private static let mostGathered = 64 << 10

    /// Sends the collected bytes.
    @discardableResult
    final func sendGathered() -> Bool {
        guard !gathered.isEmpty else { return true }
        var bytes: [UInt8] = []
        swap(&bytes, &gathered)
        let isSent = bytes.withUnsafeBytes { sendNow($0) }
        bufferPool.giveBack(bytes)
        return isSent
    }

    final override func turnEnds() {
        guard !isClosed, !gathered.isEmpty else { return }
        if !sendGathered() { return writeFailed(SystemError("send", code: EPIPE)) }
        if queuedBytes > 0 { queueGrew() }
    }

    /// Called if the kernel did not accept all collected bytes.
    func queueGrew() {}

    private func sendNow(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !layers.isEmpty else { return write(bytes) }
        let depth = layers.count - 1
        return seal(bytes, at: depth) && transmit(from: depth)
    }

    /// Encrypts with the layer at this depth. The records wait in its buffers for `transmit`.
    private func seal(_ bytes: UnsafeRawBufferPointer, at depth: Int) -> Bool {
        var isSealed = layers[depth].send(bytes, bufferPool[depth])
        #if DEBUG
            if loop.injectsFault(.tlsSeal) { isSealed = false }
        #endif
        guard !isSealed else { return true }
        // the buffers are shared, so this stream's records must not be sent with another's
        bufferPool[depth].clearRecords()
        shutDown()
        return false
    }

    /// Sends the records of the layer at this depth through the outer layers.
    private func transmit(from depth: Int) -> Bool {
        let buffers = bufferPool[depth]
        let records = buffers.records
        guard !records.isEmpty else { return true }
        defer { buffers.clearRecords() }
        guard depth > 0 else { return write(records) }
        return seal(records, at: depth - 1) && transmit(from: depth - 1)
    }

    /// Closes the sending side after everything queued was sent.
    final func finish() {
        sendGathered()
        sendCloseNotify()
        finishWriting()
    }

    /// Closes with close_notify if TLS is in use.
    final func leave() {
        sendGathered()
        sendCloseNotify()
        close()
    }

    /// Sends close_notify on every layer, the innermost first (RFC 8446 §6.1).
    final func sendCloseNotify() {
        guard !hasFinished, !isClosed else { return }
        hasFinished = true
        for depth in layers.indices.reversed() {
            layers[depth].finish(bufferPool[depth])
            guard transmit(from: depth) else { return }
        }
    }
}

/// One loop's buffers, for each TLS depth and for collected output.
final class TLSBufferPool {
    static let maxDepth = 2

    private var outer: TLSBuffers?
    private var inner: TLSBuffers?

    subscript(depth: Int) -> TLSBuffers {
        if let buffers = depth == 0 ? outer : inner { return buffers }
        let buffers = TLSBuffers()
        if depth == 0 { outer = buffers } else { inner = buffers }
        return buffers
    }

    private var spares: [[UInt8]] = []
    private static let mostSpares = 16
    private static let keptCapacity = 128 << 10

    /// An empty buffer with capacity.
    func takeSpare() -> [UInt8] { spares.popLast() ?? [] }

    func giveBack(_ buffer: consuming [UInt8]) {
        guard spares.count < Self.mostSpares, buffer.capacity <= Self.keptCapacity else { return }
        buffer.removeAll(keepingCapacity: true)
        spares.append(buffer)
    }
}
