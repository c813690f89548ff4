internal import Glibc

/// One connected stream socket: reads on readiness, writes at once and queues what the kernel does not take. Subclasses
/// say what to do. Everything happens on the loop's thread.
open class Channel: EventSource {
    public enum ReadOutcome {
        case bytes(Int)
        case wouldBlock
        /// The peer will send no more.
        case end
        case failed(SystemError)
    }

    private let descriptor: Int32
    private var readEvent: EventHandle
    private var writeEvent: EventHandle?
    private var queue = ByteQueue()
    public private(set) var isClosed = false
    private var closesWritingWhenDrained = false
    private var isConnecting = false

    /// Takes over a non-blocking descriptor. Reading starts with `startReading`.
    /// - Throws: `SystemError`; the descriptor is closed then.
    public init(loop: Loop, descriptor: consuming Descriptor, connecting: Bool = false) throws(SystemError) {
        self.descriptor = descriptor.number
        // two-phase: the event needs the object it points at
        let probe = EventSource(loop: loop)
        readEvent = try EventHandle(loop, self.descriptor, Flag.read | Flag.persist, probe)
        isConnecting = connecting
        super.init(loop: loop)
        readEvent = try EventHandle(loop, self.descriptor, Flag.read | Flag.persist, self)
        _ = descriptor.release()
        if connecting { wantWriting(true) }
    }

    deinit {
        if !isClosed { Glibc.close(descriptor) }
    }

    // MARK: what subclasses say

    /// There is something to read, or the end of it.
    open func readable() {}
    /// The connection that was being made stands, or failed.
    open func connected(_ error: SystemError?) {}
    /// The kernel took some of what was queued.
    open func progressed() {}
    /// Everything queued has gone out.
    open func drained() {}
    /// Writing failed: the peer is gone.
    open func writeFailed(_ error: SystemError) {}

    // MARK: reading

    public final func startReading() { if !isClosed { readEvent.add() } }
    /// Really takes the interest away, so a full peer costs no wake-ups.
    public final func stopReading() { if !isClosed { readEvent.remove() } }
    public final var isReading: Bool { readEvent.isAdded }

    /// Reads once into the loop's scratch buffer.
    public final func read() -> ReadOutcome {
        guard !isClosed else { return .wouldBlock }
        while true {
            let count = recv(descriptor, loop.scratch.baseAddress, loop.scratch.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            let error = errno
            if error == EINTR { continue }
            if error == EAGAIN || error == EWOULDBLOCK { return .wouldBlock }
            return .failed(SystemError("recv", code: error))
        }
    }

    // MARK: writing

    /// Bytes that wait for the kernel.
    public final var queuedBytes: Int { queue.count }

    /// Sends at once what the kernel takes and queues the rest.
    /// - Returns: false when the peer is gone; `writeFailed` is not called then.
    @discardableResult
    public final func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !isClosed else { return false }
        guard !bytes.isEmpty else { return true }
        var sent = 0
        if queue.isEmpty, !isConnecting {
            switch transmit(bytes) {
            case .success(let count): sent = count
            case .failure: return false
            }
            if sent == bytes.count { return true }
        }
        queue.append(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
        wantWriting(true)
        return true
    }

    /// Tells the peer that no more comes, once everything queued has gone out.
    public final func finishWriting() {
        guard !isClosed else { return }
        if queue.isEmpty, !isConnecting {
            shutdown(descriptor, Int32(SHUT_WR))
        } else {
            closesWritingWhenDrained = true
        }
    }

    private func transmit(_ bytes: UnsafeRawBufferPointer) -> Result<Int, SystemError> {
        while true {
            let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return .success(count) }
            let error = errno
            if error == EINTR { continue }
            if error == EAGAIN || error == EWOULDBLOCK { return .success(0) }
            return .failure(SystemError("send", code: error))
        }
    }

    private func wantWriting(_ wanted: Bool) {
        if wanted {
            if writeEvent == nil {
                writeEvent = try? EventHandle(loop, descriptor, Flag.write | Flag.persist, self)
            }
            writeEvent?.add()
        } else {
            writeEvent?.remove()
        }
    }

    private func writable() {
        if isConnecting {
            isConnecting = false
            var error: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
            if error != 0 {
                wantWriting(false)
                connected(SystemError("connect", code: error))
                return
            }
            connected(nil)
            guard !isClosed else { return }
        }
        if !queue.isEmpty {
            switch transmit(queue.front) {
            case .success(let count):
                queue.removeFirst(count)
                progressed()
            case .failure(let error):
                wantWriting(false)
                return writeFailed(error)
            }
        }
        guard queue.isEmpty else { return }
        wantWriting(false)
        if closesWritingWhenDrained {
            closesWritingWhenDrained = false
            shutdown(descriptor, Int32(SHUT_WR))
        }
        drained()
    }

    public final override func ready(_ events: Int16) {
        // the write side first: a connection that stands comes before its bytes
        if events & Flag.write != 0, !isClosed { writable() }
        if events & Flag.read != 0, !isClosed, readEvent.isAdded { readable() }
    }

    // MARK: the end

    /// Closes the socket; queued bytes are lost. The object stays alive until the turn is over.
    public final func close() {
        guard !isClosed else { return }
        isClosed = true
        readEvent.remove()
        writeEvent?.remove()
        queue = ByteQueue()
        Glibc.close(descriptor)
        loop.bury(self)
    }

    /// Closes so that the peer sees a reset: it must not take what it got for complete.
    public final func reset() {
        guard !isClosed else { return }
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }

    public final var localAddress: SocketAddress? {
        SocketAddress.filled { getsockname(descriptor, $0, $1) }
    }
}
