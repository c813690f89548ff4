internal import Glibc

/// One end of a connection within a loop. A channel uses it instead of a socket, with the same behaviour: bounded
/// buffering, half-close and resets. The loop reports changes to the other channel when neither is on the call stack.
public struct MemoryEnd {
    private let incoming: MemoryPipe
    private let outgoing: MemoryPipe

    /// Creates two connected ends. An end that no channel takes counts as closed.
    public static func pair() -> (near: MemoryEnd, far: MemoryEnd) {
        let (there, back) = (MemoryPipe(), MemoryPipe())
        return (MemoryEnd(incoming: back, outgoing: there), MemoryEnd(incoming: there, outgoing: back))
    }

    func attach(_ channel: Channel) {
        incoming.reader = channel
        outgoing.writer = channel
    }

    /// Whether there are bytes, their end, or a reset.
    var isReadable: Bool { incoming.isReadable }
    /// Whether there is room, or no reader is left.
    var isWritable: Bool { outgoing.isWritable }
    /// The bytes that the other end has not read.
    var untakenBytes: Int { outgoing.count }
    /// Whether the other end was reset.
    var isCut: Bool { incoming.isCut }
    /// Whether the other end reads no more.
    var isUnheard: Bool { outgoing.isUnheard }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Channel.ReadOutcome {
        let count = incoming.take(into: buffer)
        if count > 0 { return .bytes(count) }
        if incoming.isCut { return .failed(SystemError("recv", code: ECONNRESET)) }
        return incoming.hasEnded ? .end : .wouldBlock
    }

    /// - Returns: the number of bytes written, as far as there was room.
    func write(_ bytes: UnsafeRawBufferPointer) -> Result<Int, SystemError> {
        guard !outgoing.isUnheard, !outgoing.hasEnded else { return .failure(SystemError("send", code: EPIPE)) }
        return .success(outgoing.append(bytes))
    }

    /// Writes the last bytes of a closing channel, also beyond the bound.
    func writeLast(_ bytes: UnsafeRawBufferPointer) {
        if !outgoing.isUnheard, !outgoing.hasEnded { _ = outgoing.append(bytes, atMost: .max) }
    }

    /// Closes the writing side.
    func finish() { outgoing.end() }

    /// Closes both sides. Bytes received before may still be read.
    func shutDown() {
        outgoing.end()
        incoming.end()
        incoming.becomeUnheard()
    }

    /// Closes the end. Unread bytes are lost, so the other end sees a reset, as with a socket.
    func close() {
        outgoing.writer = nil
        if incoming.abandon() { outgoing.cut() } else { outgoing.end() }
    }

    /// Resets the connection, so that the other end does not take its data for complete.
    func cut() { outgoing.cut() }
}
