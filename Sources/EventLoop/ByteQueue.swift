/// Bytes that wait to be written, first in, first out.
struct ByteQueue: ~Copyable {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { bytes.count == start }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        // what went out is dropped before the array would grow for it
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
            // most channels have a queue for a moment in their lives
            bytes = []
        }
    }
}
