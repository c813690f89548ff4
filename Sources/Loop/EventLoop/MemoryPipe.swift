/// One direction of a connection within a loop: a bounded buffer in memory.
final class MemoryPipe {
    private var bytes = ByteQueue()
    /// Whether the writer has finished.
    private(set) var hasEnded = false
    /// Whether the writer was reset, so that its data is incomplete.
    private(set) var isCut = false
    /// Whether the reader is gone.
    private(set) var isUnheard = false
    // each channel removes itself from both when it is destroyed
    @Unretained var reader: Channel?
    @Unretained var writer: Channel?

    /// The capacity in bytes. One read takes all of them.
    static let capacity = Loop.scratchSize

    var count: Int { bytes.count }
    /// Whether there are bytes, or their end.
    var isReadable: Bool { !bytes.isEmpty || hasEnded || isCut }
    /// Whether there is room, or no reader is left.
    var isWritable: Bool { count < Self.capacity || isUnheard }

    /// - Returns: the number of bytes that fit.
    func append(_ more: UnsafeRawBufferPointer, atMost capacity: Int = MemoryPipe.capacity) -> Int {
        let taken = min(more.count, capacity - count)
        guard taken > 0 else { return 0 }
        bytes.append(UnsafeRawBufferPointer(rebasing: more[..<taken]))
        reader?.otherEndChanged()
        return taken
    }

    /// - Returns: the number of bytes copied.
    func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(count, buffer.count)
        guard count > 0 else { return 0 }
        bytes.withFront { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        bytes.removeFirst(count)
        writer?.otherEndChanged()
        return count
    }

    /// Marks the end of the data.
    func end() {
        hasEnded = true
        reader?.otherEndChanged()
    }

    /// Marks the data as cut short.
    func cut() {
        isCut = true
        end()
    }

    /// Discards all further writes.
    func becomeUnheard() {
        isUnheard = true
        writer?.otherEndChanged()
    }

    /// Removes the reader and the waiting bytes.
    /// - Returns: whether bytes were lost.
    func abandon() -> Bool {
        let isLost = !bytes.isEmpty
        bytes = ByteQueue()
        reader = nil
        becomeUnheard()
        return isLost
    }
}
