internal import Glibc

/// One connected stream socket, or one end of a connection within this loop: reads on readiness, writes at once and queues what
/// is not taken. Subclasses say what to do. Everything happens on the loop's thread.
open class Channel: EventSource {
    public enum ReadOutcome {
        case bytes(Int)
        case wouldBlock
        /// The peer will send no more.
        case end
        case failed(SystemError)
    }

    private let descriptor: Int32
    /// What there is instead of a descriptor.
    private let end: MemoryEnd?

    private var readEvent: EventHandle
    private var writeEvent: EventHandle?
    private var queue = ByteQueue()
    /// Bytes that go out before those of the queue.
    private var pipe: Pipe?
    public private(set) var isClosed = false
    private var closesWritingWhenDrained = false
    private var isConnecting = false
    /// Sending failed once: nothing goes out any more. What the peer said before may still be read.
    private var isShutDown = false
    /// What the peer had not taken, queued here or held by the kernel, when `isTaking` was asked last.
    private var lastUntaken = Int.max
    /// The loop will tell it what became of its other end.
    private var isToBeTold = false

    /// Takes over a non-blocking descriptor. Reading starts with `startReading`.
    /// - Throws: `SystemError`; the descriptor is closed then.
    public init(loop: Loop, descriptor: consuming Descriptor, connecting: Bool = false) throws(SystemError) {
        self.descriptor = descriptor.number
        end = nil
        readEvent = try EventHandle(loop, descriptor.number, Flag.read | Flag.persist)
        isConnecting = connecting
        super.init(loop: loop)
        // from here on the object owns the descriptor, also when what follows fails
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
        // the events first: a number that is closed may belong to another thread's socket already
        readEvent.remove()
        writeEvent?.remove()
        // after `finishWriting` what is queued reaches the other end all the same
        if let end, closesWritingWhenDrained { queue.withFront { end.writeLast($0) } }
        dropQueue()
        if let end { end.close() } else { Glibc.close(descriptor) }
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
    /// Writing failed: the peer is gone. What was queued is lost.
    open func writeFailed(_ error: SystemError) {}
    /// The kernel would not watch the socket for reading: nothing will ever be heard from it.
    open func readingRefused() {}

    /// The turn is over in which that was asked for (`Loop.tellAtEnd`).
    open func turnEnds() {}

    // MARK: reading

    public final func startReading() {
        guard !isClosed else { return }
        if !readEvent.add() { loop.refuse(self) } else if holdsBack { loop.recall(self) }
        otherEndChanged()
    }
    /// Really takes the interest away, so a full peer costs no wake-ups.
    public final func stopReading() { if !isClosed { readEvent.remove() } }
    public final var isReading: Bool { readEvent.isAdded }

    public final func read(_ isWanted: Bool) {
        guard isWanted != isReading else { return }
        if isWanted { startReading() } else { stopReading() }
    }

    /// Something was read that `readable` has not told of yet: it is called once more when the turn is over, or when reading
    /// begins again.
    public final var holdsBack = false {
        didSet { if holdsBack, !isClosed, isReading { loop.recall(self) } }
    }

    /// Has the kernel acknowledge at once what came: a peer that sends small pieces may hold the next one back until then (Nagle's
    /// algorithm, RFC 896), and an acknowledgement may wait for 40 ms.
    public final func acknowledge() {
        guard !isClosed, end == nil else { return }
        var on: Int32 = 1
        // where the socket is none of TCP there is nothing to acknowledge
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

    /// The peer has closed its side and takes nothing any more, whatever of it waits to be read.
    public final var hasHungUp: Bool { end.map { !isClosed && $0.isUnheard } ?? kernelTells(POLLHUP | POLLERR) }

    /// The peer has reset the connection, and no read or write has told of it yet.
    public final var hasFailed: Bool { end.map { !isClosed && $0.isCut } ?? kernelTells(POLLERR) }

    /// Asks for no event: these are told of all the same.
    private func kernelTells(_ events: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return !isClosed && poll(&entry, 1, 0) > 0 && entry.revents & Int16(events) != 0
    }

    /// Whether the kernel holds something of the peer that nobody has read: bytes, or its end. Asks it.
    public final var holdsUnread: Bool { !isClosed && (end?.isReadable ?? loop.peek(descriptor)) }

    /// Its other end is on this loop: no socket is between them.
    public final var isWithinLoop: Bool { end != nil }

    // MARK: writing

    /// Bytes that wait for the kernel.
    public final var queuedBytes: Int { queue.count + (pipe?.count ?? 0) }

    /// What the peer has not taken, queued here or held by the kernel. Asks the kernel.
    public final var untakenBytes: Int {
        var held: Int32 = 0
        guard !isClosed, !isShutDown else { return 0 }
        if let end { return queuedBytes + end.untakenBytes }
        guard ioctl(descriptor, UInt(TIOCOUTQ), &held) == 0 else { return 0 }
        return queuedBytes + Int(held)
    }

    /// Whether the peer took some of what is on its way to it since this was asked last. The kernel holds megabytes for a
    /// slow peer and asks for more only when much of that is gone, so a queue that does not move, or is empty, says little.
    /// The first answer is yes where anything is left: there is nothing to compare with.
    public final func isTaking() -> Bool {
        let left = untakenBytes
        defer { lastUntaken = left > 0 ? left : .max }
        return left > 0 && left < lastUntaken
    }

    /// Sends at once what the kernel takes and queues the rest.
    /// - Returns: false when the peer is gone; `writeFailed` is not called then.
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

    /// Tells the peer that no more comes, once everything queued has gone out.
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

    /// Sends what the kernel takes of what waits: what is in the pipe, or of the queue once that is empty.
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
        /// So many bytes left this channel.
        /// - Parameter isHeard: false when the other one's peer is gone; its `writeFailed` is not called then.
        case bytes(Int, isHeard: Bool)
        case wouldBlock
        /// The peer will send no more.
        case end
        case failed(SystemError)
    }

    /// What passes at once at most.
    public static let maxPassed = Pipe.size

    /// Has the kernel pass bytes on to another channel, which nobody here needs to see. What that does not take waits for it
    /// as if it had been written.
    /// - Returns: nil where that cannot be done now: they have to be read and written.
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
            // a kernel, or a kind of socket, that cannot do it
            if error == EINVAL || error == ENOSYS { return nil }
            return .failed(SystemError("splice", code: error))
        }
    }

    private var takesPipe: Bool { !isClosed && !isShutDown && !isConnecting && isEmpty && end == nil }

    /// Sends what is in the pipe, and keeps the pipe for as long as something is.
    private func write(_ pipe: Pipe) -> Bool {
        self.pipe = pipe
        lastUntaken = .max
        if case .success = transmitQueue(), isEmpty || watchWriting() { return true }
        shutDown()
        return false
    }

    /// - Returns: false when the kernel does not watch the socket for writing.
    private func watchWriting() -> Bool {
        if writeEvent == nil {
            writeEvent = try? EventHandle.pointing(at: self, loop, descriptor, Flag.write | Flag.persist)
        }
        return writeEvent?.add() ?? false
    }

    /// Nothing goes out any more. Whatever the reason was, the peer's end follows what it said before: nobody is left
    /// waiting for it.
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
        // the write side first: a connection that stands comes before its bytes
        if events & Flag.write != 0, !isClosed { writable() }
        if events & Flag.read != 0, !isClosed, readEvent.isAdded { readable() }
        if events & Flag.refused != 0, !isClosed { readingRefused() }
    }

    // MARK: the other end, where it is on this loop

    /// It may have something to read there, or room to write: the loop tells it of that, for whoever brought it about is still at
    /// work.
    final func otherEndChanged() {
        guard let end, !isClosed, !isToBeTold, events(at: end) != 0 else { return }
        isToBeTold = true
        loop.tell(self)
    }

    /// By the loop.
    final func tellOfOtherEnd() {
        isToBeTold = false
        guard let end, !isClosed else { return }
        ready(events(at: end))
        // what it left there is told of again
        otherEndChanged()
    }

    private func events(at end: MemoryEnd) -> Int16 {
        (readEvent.isAdded && end.isReadable ? Flag.read : 0)
            | (writeEvent?.isAdded == true && end.isWritable ? Flag.write : 0)
    }

    // MARK: the end

    /// Closes; queued bytes are lost, unless `finishWriting` came before and the other end is on this loop. The object stays alive
    /// until the turn is over.
    public final func close() {
        guard !isClosed else { return }
        isClosed = true
        release()
        loop.deferRelease(self)
    }

    /// Closes so that the peer sees a reset: it must not take what it got for complete.
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
