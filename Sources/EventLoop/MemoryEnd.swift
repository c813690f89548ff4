internal import Glibc

/// One end of a connection whose other end is on the same loop. A channel has it in place of a socket, and finds there what a
/// socket has: a bound on what waits, ends of one direction alone, and resets. What one channel does is told to the other one by
/// the loop, when nobody is at work on either of them.
public struct MemoryEnd {
    private let incoming: MemoryPipe
    private let outgoing: MemoryPipe

    /// Two ends that are connected to each other. Where one of them is given to no channel, nobody is there.
    public static func pair() -> (near: MemoryEnd, far: MemoryEnd) {
        let (there, back) = (MemoryPipe(), MemoryPipe())
        return (MemoryEnd(incoming: back, outgoing: there), MemoryEnd(incoming: there, outgoing: back))
    }

    func attach(_ channel: Channel) {
        incoming.reader = channel
        outgoing.writer = channel
    }

    /// There are bytes, their end, or a reset.
    var isReadable: Bool { incoming.isReadable }
    /// There is room, or nobody is there any more.
    var isWritable: Bool { outgoing.isWritable }
    /// What the other end has not read.
    var untakenBytes: Int { outgoing.count }
    /// The other end was reset.
    var isCut: Bool { incoming.isCut }
    /// The other end takes nothing any more.
    var isUnheard: Bool { outgoing.isUnheard }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Channel.ReadOutcome {
        let count = incoming.take(into: buffer)
        if count > 0 { return .bytes(count) }
        if incoming.isCut { return .failed(SystemError("recv", code: ECONNRESET)) }
        return incoming.hasEnded ? .end : .wouldBlock
    }

    /// - Returns: how many of the bytes there was room for.
    func write(_ bytes: UnsafeRawBufferPointer) -> Result<Int, SystemError> {
        guard !outgoing.isUnheard, !outgoing.hasEnded else { return .failure(SystemError("send", code: EPIPE)) }
        return .success(outgoing.append(bytes))
    }

    /// Writes the last bytes, beyond the bound, too: their writer had them queued already, and goes.
    func writeLast(_ bytes: UnsafeRawBufferPointer) {
        if !outgoing.isUnheard, !outgoing.hasEnded { _ = outgoing.append(bytes, atMost: .max) }
    }

    /// No more is written.
    func finish() { outgoing.end() }

    /// No more is written or heard. What came before may still be read.
    func shutDown() {
        outgoing.end()
        incoming.end()
        incoming.becomeUnheard()
    }

    /// The channel is gone. What it has not read is lost, and so the other end is told of a reset, as a socket's would be.
    func close() {
        outgoing.writer = nil
        if incoming.abandon() { outgoing.cut() } else { outgoing.end() }
    }

    /// The other end is not to take what it has for complete.
    func cut() { outgoing.cut() }
}
