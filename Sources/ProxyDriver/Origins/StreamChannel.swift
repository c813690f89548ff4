import EventLoop
import Glibc
import TLSEngine

/// A connection with as many layers of TLS on it as are needed: none, one, or one inside another. Above them all bytes are
/// plain.
class StreamChannel: Channel {
    enum Received {
        /// They are in `incoming`.
        case bytes
        /// Something came, and nothing for whoever reads: the handshake goes on.
        case nothing
        case wouldBlock
        /// The peer will send no more. Not whole where TLS was not told so: what came may have been cut short.
        case end(isWhole: Bool)
        case failed(TLSFault?)
    }

    private let bufferPool: TLSBufferPool

    private var layers: [TLSStream] = []
    /// What was received last. Valid until the next read on this loop.
    private(set) var incoming = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// More may wait in the kernel than was taken.
    private(set) var mayHoldMore = false
    /// Much came last, and as much may come next.
    private(set) var comesInBulk = false
    /// The end that comes behind the bytes that were received last.
    private var end: Received?
    /// The peer was told that no more comes.
    private(set) final var hasFinished = false
    /// What goes out when the turn of the loop is over.
    private var gathered: [UInt8] = []
    /// Bytes that the layers answered by themselves since the peer had taken everything.
    private var untaken = 0
    /// New keys are what a peer may ask for again and again (RFC 8446 §4.6.3), as long as it takes the answers.
    private static let maxUntaken = 64 << 10

    init(loop: Loop, bufferPool: TLSBufferPool, descriptor: consuming Descriptor, connecting: Bool = false)
        throws(SystemError)
    {
        self.bufferPool = bufferPool
        try super.init(loop: loop, descriptor: descriptor, connecting: connecting)
    }

    /// The peer is another connection of this loop, or nobody.
    init(loop: Loop, bufferPool: TLSBufferPool, end: MemoryEnd) {
        self.bufferPool = bufferPool
        super.init(loop: loop, end: end)
    }

    /// The innermost layer.
    var stream: TLSStream? { layers.last }

    /// The innermost layer is not agreed on yet.
    var isSecuring: Bool { stream?.state == .handshaking }

    // MARK: reading

    /// Reads once and opens what came.
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

    /// Adds a layer on the inside. Its first bytes may be here already.
    /// - Parameter first: records for it, at most as many as `TLSBuffers.maxInput`.
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

    /// Fewer bytes are read and written at less cost.
    private static let minPassed = 16 << 10

    /// Has the kernel pass on what nobody here needs to see, where neither end has TLS on it and many bytes came last.
    /// - Returns: nil where they have to be received and sent.
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
        // what comes behind the bytes; the innermost layer that tells of an end knows best
        var end: Received?
        for depth in first..<layers.count {
            let stream = layers[depth]
            let buffers = bufferPool[depth]
            stream.received(UnsafeRawBufferPointer(incoming), buffers)
            incoming = buffers.decrypted.bindMemory(to: UInt8.self)
            untaken = queuedBytes == 0 ? 0 : untaken + buffers.records.count
            // also where the stream failed: its peer is to hear why
            let isHeard = transmit(from: depth)
            switch stream.state {
            case .open:
                guard untaken > Self.maxUntaken else { break }
                end = .failed(TLSFault(.protocolError, "it asks for new keys again and again, and takes none"))
            case .handshaking: return end ?? (isHeard ? .nothing : .failed(.closedInHandshake))
            // a layer further in has not said so, and may have been cut off
            case .ended: end = .end(isWhole: depth == layers.count - 1)
            case .failed(let fault): end = .failed(fault)
            }
            if incoming.isEmpty { return end ?? .nothing }
        }
        // an end that comes behind bytes is told when they have been used
        if let end {
            self.end = end
            holdsBack = true
        }
        return .bytes
    }

    /// The socket has ended, and no layer said that it would.
    private func finished() -> Received {
        guard let stream else { return .end(isWhole: true) }
        return stream.state == .handshaking ? .failed(.closedInHandshake) : .end(isWhole: false)
    }

    #if DEBUG
        /// What a fault plan has OpenSSL say.
        private static let noMemory = TLSFault(.local, "there is no memory for a TLS record")
    #endif

    // MARK: writing

    /// Sends at once what the kernel takes and queues the rest.
    /// - Returns: false when the peer is gone.
    @discardableResult
    final func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard sendGathered() else { return false }
        return sendNow(bytes)
    }

    /// Sends what was gathered in this turn of the loop with one call when it is over: where a connection carries many exchanges,
    /// the small pieces of all of them leave together, and in one record.
    /// - Returns: false when the peer is known to be gone; else `writeFailed` tells of it.
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

    /// Sends what was gathered so far.
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

    /// The kernel did not take all of what was gathered.
    func queueGrew() {}

    private func sendNow(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !layers.isEmpty else { return write(bytes) }
        let depth = layers.count - 1
        return seal(bytes, at: depth) && transmit(from: depth)
    }

    /// Has the layer of that depth make records, which wait in its buffers for `transmit`.
    private func seal(_ bytes: UnsafeRawBufferPointer, at depth: Int) -> Bool {
        var isSealed = layers[depth].send(bytes, bufferPool[depth])
        #if DEBUG
            if loop.injectsFault(.tlsSeal) { isSealed = false }
        #endif
        guard !isSealed else { return true }
        // other streams use the same buffers: nothing of this one may go out with theirs
        bufferPool[depth].clearRecords()
        shutDown()
        return false
    }

    /// Sends what the layer of that depth made, through those around it.
    private func transmit(from depth: Int) -> Bool {
        let buffers = bufferPool[depth]
        let records = buffers.records
        guard !records.isEmpty else { return true }
        defer { buffers.clearRecords() }
        guard depth > 0 else { return write(records) }
        return seal(records, at: depth - 1) && transmit(from: depth - 1)
    }

    /// Tells the peer that no more comes, once everything queued has gone out.
    final func finish() {
        sendGathered()
        sendCloseNotify()
        finishWriting()
    }

    /// Closes, with a word to the peer where TLS has one.
    final func leave() {
        sendGathered()
        sendCloseNotify()
        close()
    }

    /// Every layer says that it ends, the innermost first (RFC 8446 §6.1).
    final func sendCloseNotify() {
        guard !hasFinished, !isClosed else { return }
        hasFinished = true
        for depth in layers.indices.reversed() {
            layers[depth].finish(bufferPool[depth])
            guard transmit(from: depth) else { return }
        }
    }
}

/// The buffers of one loop, for each depth of layers, and for what is gathered in a turn.
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

    /// An empty buffer that has room already.
    func takeSpare() -> [UInt8] { spares.popLast() ?? [] }

    func giveBack(_ buffer: consuming [UInt8]) {
        guard spares.count < Self.mostSpares, buffer.capacity <= Self.keptCapacity else { return }
        buffer.removeAll(keepingCapacity: true)
        spares.append(buffer)
    }
}
