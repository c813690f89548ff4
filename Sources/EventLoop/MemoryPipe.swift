/// One direction of a connection between two channels of the same loop: bytes that wait here, and not in the kernel.
final class MemoryPipe {
    private var bytes = ByteQueue()
    /// The writer will write no more.
    private(set) var hasEnded = false
    /// The writer was reset: what it wrote is not all that it had to say.
    private(set) var isCut = false
    /// Nobody will read any more.
    private(set) var isUnheard = false
    // a channel takes itself out of both when it is released, which its deinit sees to
    @Unretained var reader: Channel?
    @Unretained var writer: Channel?

    /// As many bytes wait at most. One read takes all of them.
    static let capacity = Loop.scratchSize

    var count: Int { bytes.count }
    /// There are bytes, or their end.
    var isReadable: Bool { !bytes.isEmpty || hasEnded || isCut }
    /// There is room, or nobody for whom there would have to be.
    var isWritable: Bool { count < Self.capacity || isUnheard }

    /// - Returns: how many of the bytes there is room for.
    func append(_ more: UnsafeRawBufferPointer, atMost capacity: Int = MemoryPipe.capacity) -> Int {
        let taken = min(more.count, capacity - count)
        guard taken > 0 else { return 0 }
        bytes.append(UnsafeRawBufferPointer(rebasing: more[..<taken]))
        reader?.otherEndChanged()
        return taken
    }

    /// - Returns: how many bytes were put there.
    func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(count, buffer.count)
        guard count > 0 else { return 0 }
        bytes.withFront { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        bytes.removeFirst(count)
        writer?.otherEndChanged()
        return count
    }

    /// Nothing follows what is in here.
    func end() {
        hasEnded = true
        reader?.otherEndChanged()
    }

    /// The same, and what is in here was cut short.
    func cut() {
        isCut = true
        end()
    }

    /// Whatever is still written goes nowhere.
    func becomeUnheard() {
        isUnheard = true
        writer?.otherEndChanged()
    }

    /// The reader is gone, and what waits for it with it.
    /// - Returns: whether something did.
    func abandon() -> Bool {
        let isLost = !bytes.isEmpty
        bytes = ByteQueue()
        reader = nil
        becomeUnheard()
        return isLost
    }
}
