/// One end of a relay: whether it still sends and receives, and how many bytes are queued for it. Determines
/// back-pressure on the other end.
struct Endpoint {
    /// The fill level of the queue.
    enum Queue {
        case empty
        case some
        /// The queue's sender is not read until the queue is empty.
        case full
    }

    /// The end sends no more.
    private(set) var hasEnded = false
    /// The end receives no more. Bytes that it sent before may still be read.
    private(set) var isLost = false
    private(set) var queue = Queue.empty

    /// Queued bytes above which the queue's sender is not read. The kernel's buffers keep a fast peer busy
    /// meanwhile: the kernel asks for more when a third of them is free.
    static let highWater = 16 << 10

    mutating func end() { hasEnded = true }

    mutating func lose() {
        isLost = true
        queue = .empty
    }

    /// Bytes are on their way to this end; the number queued is reported after the write.
    mutating func isSent() { if !isLost, queue == .empty { queue = .some } }

    /// Reports how many bytes are queued for this end.
    mutating func holds(_ count: Int, highWater: Int) {
        if count == 0 {
            queue = .empty
        } else if count > highWater {
            queue = .full
        } else if queue == .empty {
            queue = .some
        }
    }

    /// Whether nothing is queued: everything was taken, or the end is lost.
    var isDone: Bool { queue == .empty }
}
