/// A first-in, first-out queue of bytes to be written.
struct ByteQueue: ~Copyable {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { bytes.count == start }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        // drops sent bytes before the array would grow
        if start > 0, start >= bytes.count / 2 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    func withFront<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    }

    mutating func removeFirst(_ count: Int) {
        start += count
        if start == bytes.count {
            start = 0
            // frees the memory, since most channels need a queue only briefly
            bytes = []
        }
    }
}
