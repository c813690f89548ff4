internal import Glibc

/// A connected stream socket, or one end of a connection within this loop. It reads when data is ready, writes at once, and
/// queues the rest. Subclasses handle the events, all on the loop's thread.
open class Channel: EventSource {
    public enum ReadOutcome {
        case bytes(Int)
        case wouldBlock
        /// The peer sends no more.
        case end
        case failed(SystemError)
    }

    private let descriptor: Int32
    /// The end of a connection within the loop, in place of a descriptor.
    private let end: MemoryEnd?

    private var readEvent: EventHandle
    private var writeEvent: EventHandle?
    private var queue = ByteQueue()
    /// Bytes that go out before the queue.
    private var pipe: Pipe?
    public private(set) var isClosed = false
    private var closesWritingWhenDrained = false
    private var isConnecting = false
    /// Whether writing failed once. Nothing more is sent; received bytes may still be read.
    private var isShutDown = false
    /// The untaken bytes, here or in the kernel, at the last call of `isTaking`.
    private var lastUntaken = Int.max
    /// Whether the loop will report a change of the other end.
    private var isToBeTold = false

    /// Takes ownership of a non-blocking descriptor. Reading starts with `startReading`.
    /// - Throws: `SystemError`; the descriptor is closed then.
    public init(loop: Loop, descriptor: consuming Descriptor, connecting: Bool = false) throws(SystemError) {
        self.descriptor = descriptor.number
        end = nil
        readEvent = try EventHandle(loop, descriptor.number, Flag.read | Flag.persist)
        isConnecting = connecting
        super.init(loop: loop)
        // from here on the object owns the descriptor, also if a later step fails
        _ = descriptor.release()
        readEvent.point(at: self, loop, self.descriptor, Flag.read | Flag.persist)
        if connecting, !watchWriting() { throw SystemError("event_add") }
    }

    /// Takes one end of a connection within this loop. Reading starts with `startReading`.
    public init(loop: Loop, end: MemoryEnd) {
        descriptor = -1
        self.end = end
        readEvent = EventHandle()
        writeEvent = EventHandle()
        super.init(loop: loop)
        end.attach(self)
    }

    deinit { if !isClosed { release() } }

    private func release() {
        // the events first: a closed number may already be another thread's socket
        readEvent.remove()
        writeEvent?.remove()
        // after `finishWriting` queued bytes still reach the other end
        if let end, closesWritingWhenDrained { queue.withFront { end.writeLast($0) } }
        dropQueue()
        if let end { end.close() } else { Glibc.close(descriptor) }
    }

    // MARK: what subclasses say

    /// Data or its end is ready to be read.
    open func readable() {}
    /// The connection attempt succeeded or failed.
    open func connected(_ error: SystemError?) {}
    /// The kernel took some of the queue.
    open func progressed() {}
    /// The queue is empty.
    open func drained() {}
    /// Writing failed because the peer is gone. The queue is lost.
    open func writeFailed(_ error: SystemError) {}
    /// The kernel refused to watch the socket for reading; no event will come.
    open func readingRefused() {}

    /// The turn ended in which `Loop.tellAtEnd` was called.
    open func turnEnds() {}

    // MARK: reading

    public final func startReading() {
        guard !isClosed else { return }
        if !readEvent.add() { loop.refuse(self) } else if holdsBack { loop.recall(self) }
        otherEndChanged()
    }
    /// Stops reading. The interest is removed, so that a full peer causes no wake-ups.
    public final func stopReading() { if !isClosed { readEvent.remove() } }
    public final var isReading: Bool { readEvent.isAdded }

    public final func read(_ isWanted: Bool) {
        guard isWanted != isReading else { return }
        if isWanted { startReading() } else { stopReading() }
    }

    /// Whether bytes were read that `readable` did not report. It is then called again at the end of the turn or when
    /// reading restarts.
    public final var holdsBack = false {
        didSet { if holdsBack, !isClosed, isReading { loop.recall(self) } }
    }

    /// Makes the kernel acknowledge received bytes at once. Otherwise an acknowledgement may wait for 40 ms, while Nagle's
    /// algorithm (RFC 896) of the peer holds back its next small piece.
    public final func acknowledge() {
        guard !isClosed, end == nil else { return }
        var on: Int32 = 1
        // only TCP sockets have acknowledgements
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Reads once into the loop's scratch buffer.
    public final func read() -> ReadOutcome {
        guard !isClosed else { return .wouldBlock }
        if let end { return end.read(into: loop.scratch) }
        while true {
            let count = loop.receive(descriptor)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            let error = errno
            if error == EINTR { continue }
            if error == EAGAIN || error == EWOULDBLOCK { return .wouldBlock }
            return .failed(SystemError("recv", code: error))
        }
    }

    /// Whether the peer closed its side and takes nothing more, even if data waits to be read.
    public final var hasHungUp: Bool { end.map { !isClosed && $0.isUnheard } ?? kernelTells(POLLHUP | POLLERR) }

    /// Whether the peer reset the connection, before a read or write reports it.
    public final var hasFailed: Bool { end.map { !isClosed && $0.isCut } ?? kernelTells(POLLERR) }

    /// Asks the kernel without an interest: these events are always reported.
    private func kernelTells(_ events: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return !isClosed && poll(&entry, 1, 0) > 0 && entry.revents & Int16(events) != 0
    }

    /// Whether the kernel holds unread bytes or the end. Costs a system call.
    public final var holdsUnread: Bool { !isClosed && (end?.isReadable ?? loop.peek(descriptor)) }

    /// Whether the other end is on this loop, without a socket.
    public final var isWithinLoop: Bool { end != nil }

    // MARK: writing

    /// The bytes that wait for the kernel.
    public final var queuedBytes: Int { queue.count + (pipe?.count ?? 0) }

    /// The bytes that the peer has not taken, queued here or in the kernel. Costs a system call.
    public final var untakenBytes: Int {
        var held: Int32 = 0
        guard !isClosed, !isShutDown else { return 0 }
        if let end { return queuedBytes + end.untakenBytes }
        guard ioctl(descriptor, UInt(TIOCOUTQ), &held) == 0 else { return 0 }
        return queuedBytes + Int(held)
    }

    /// Whether the peer took bytes since the last call. The kernel holds megabytes for a slow peer and asks for more only
    /// when much of that is gone, so the queue alone says little. The first call returns true if anything is left, since
    /// there is nothing to compare with.
    public final func isTaking() -> Bool {
        let left = untakenBytes
        defer { lastUntaken = left > 0 ? left : .max }
        return left > 0 && left < lastUntaken
    }

    /// Sends as many bytes as the kernel takes, and queues the rest.
    /// - Returns: false if the peer is gone; `writeFailed` is not called then.
    @discardableResult
    public final func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !isClosed, !isShutDown else { return false }
        guard !bytes.isEmpty else { return true }
        var sent = 0
        if isEmpty, !isConnecting {
            switch transmit(bytes) {
            case .success(let count):
                sent = count
                lastUntaken = .max
            case .failure:
                shutDown()
                return false
            }
            if sent == bytes.count { return true }
        }
        queue.append(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
        guard watchWriting() else {
            shutDown()
            return false
        }
        return true
    }

    /// Closes the writing side after the queue was sent.
    public final func finishWriting() {
        guard !isClosed, !isShutDown else { return }
        if isEmpty, !isConnecting { endWriting() } else { closesWritingWhenDrained = true }
    }

    private func endWriting() { if let end { end.finish() } else { shutdown(descriptor, Int32(SHUT_WR)) } }

    private var isEmpty: Bool { queue.isEmpty && pipe == nil }

    private func dropQueue() {
        queue = ByteQueue()
        if let pipe { loop.pipes.giveBack(pipe) }
        pipe = nil
    }

    private func transmit(_ bytes: UnsafeRawBufferPointer) -> Result<Int, SystemError> {
        end?.write(bytes) ?? Self.outcome("send") { loop.transmit(descriptor, bytes) }
    }

    private static func outcome(_ call: String, _ transmit: () -> Int) -> Result<Int, SystemError> {
        while true {
            let count = transmit()
            if count >= 0 { return .success(count) }
            let error = errno
            if error == EINTR { continue }
            if error == EAGAIN || error == EWOULDBLOCK { return .success(0) }
            return .failure(SystemError(call, code: error))
        }
    }

    /// Sends waiting bytes: those of the pipe, then those of the queue.
    private func transmitQueue() -> Result<Int, SystemError> {
        guard let pipe else {
            let sent = queue.withFront { transmit($0) }
            if case .success(let count) = sent { queue.removeFirst(count) }
            return sent
        }
        let sent = Self.outcome("splice") { pipe.drain(into: descriptor, loop) }
        if pipe.count == 0 {
            self.pipe = nil
            loop.pipes.giveBack(pipe)
        }
        return sent
    }

    // MARK: passing on

    public enum PassOutcome {
        /// This many bytes left this channel.
        /// - Parameter isHeard: false if the other channel's peer is gone; its `writeFailed` is not called then.
        case bytes(Int, isHeard: Bool)
        case wouldBlock
        /// The peer sends no more.
        case end
        case failed(SystemError)
    }

    /// The most bytes that one call passes.
    public static let maxPassed = Pipe.size

    /// Passes bytes to another channel within the kernel (splice), unread. Bytes that it does not take wait there as if
    /// they were written.
    /// - Returns: nil if that is impossible now; the bytes must be read and written.
    public final func pass(to other: Channel, atMost limit: Int) -> PassOutcome? {
        guard !isClosed, end == nil, other.takesPipe, let pipe = loop.pipes.take(loop) else { return nil }
        while true {
            let count = pipe.fill(from: descriptor, atMost: limit, loop)
            if count > 0 { return .bytes(count, isHeard: other.write(pipe)) }
            let error = errno
            if count < 0, error == EINTR { continue }
            loop.pipes.giveBack(pipe)
            if count == 0 { return .end }
            if error == EAGAIN || error == EWOULDBLOCK { return .wouldBlock }
            // this kernel or kind of socket does not support splice
            if error == EINVAL || error == ENOSYS { return nil }
            return .failed(SystemError("splice", code: error))
        }
    }

    private var takesPipe: Bool { !isClosed && !isShutDown && !isConnecting && isEmpty && end == nil }

    /// Sends the bytes of the pipe, and keeps the pipe while it holds any.
    private func write(_ pipe: Pipe) -> Bool {
        self.pipe = pipe
        lastUntaken = .max
        if case .success = transmitQueue(), isEmpty || watchWriting() { return true }
        shutDown()
        return false
    }

    /// - Returns: false if the kernel does not watch the socket for writing.
    private func watchWriting() -> Bool {
        if writeEvent == nil {
            writeEvent = try? EventHandle.pointing(at: self, loop, descriptor, Flag.write | Flag.persist)
        }
        return writeEvent?.add() ?? false
    }

    /// Closes the writing side for good. The end reaches the peer behind the bytes sent before.
    public final func shutDown() {
        guard !isClosed else { return }
        isShutDown = true
        if let end { end.shutDown() } else { shutdown(descriptor, Int32(SHUT_RDWR)) }
        dropQueue()
        writeEvent?.remove()
    }

    private func writable() {
        if isConnecting {
            isConnecting = false
            var error: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
            if error != 0 {
                shutDown()
                return connected(SystemError("connect", code: error))
            }
            connected(nil)
            guard !isClosed else { return }
        }
        if !isEmpty {
            switch transmitQueue() {
            case .success(let count):
                if count > 0 {
                    lastUntaken = .max
                    progressed()
                }
                // the number may be another socket's by now
                guard !isClosed, !isShutDown else { return }
            case .failure(let error):
                shutDown()
                return writeFailed(error)
            }
        }
        guard isEmpty else { return }
        writeEvent?.remove()
        if closesWritingWhenDrained {
            closesWritingWhenDrained = false
            endWriting()
        }
        drained()
    }

    public final override func ready(_ events: Int16) {
        // writing first: a connection must be established before its bytes
        if events & Flag.write != 0, !isClosed { writable() }
        if events & Flag.read != 0, !isClosed, readEvent.isAdded { readable() }
        if events & Flag.refused != 0, !isClosed { readingRefused() }
    }

    // MARK: the other end, where it is on this loop

    /// Records a change of the other end. The loop reports it later, because the cause is still on the call stack.
    final func otherEndChanged() {
        guard let end, !isClosed, !isToBeTold, events(at: end) != 0 else { return }
        isToBeTold = true
        loop.tell(self)
    }

    /// Reports a change of the other end. The loop calls it.
    final func tellOfOtherEnd() {
        isToBeTold = false
        guard let end, !isClosed else { return }
        ready(events(at: end))
        // unread bytes are reported again
        otherEndChanged()
    }

    private func events(at end: MemoryEnd) -> Int16 {
        (readEvent.isAdded && end.isReadable ? Flag.read : 0)
            | (writeEvent?.isAdded == true && end.isWritable ? Flag.write : 0)
    }

    // MARK: the end

    /// Closes the channel. Queued bytes are lost, unless `finishWriting` was called and the other end is on this loop. The
    /// object lives until the end of the turn.
    public final func close() {
        guard !isClosed else { return }
        isClosed = true
        release()
        loop.deferRelease(self)
    }

    /// Closes with a reset, so that the peer does not take its data for complete.
    public final func reset() {
        guard !isClosed else { return }
        if let end {
            end.cut()
        } else {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        }
        close()
    }

    public final var localAddress: SocketAddress? {
        SocketAddress.filled { getsockname(descriptor, $0, $1) }
    }
}
