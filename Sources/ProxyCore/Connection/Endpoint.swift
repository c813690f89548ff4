/// One end of what passes through, as far as it holds the other end up: whether it still sends, still takes, and how much
/// waits for it.
struct Endpoint {
    /// What waits to be taken.
    enum Queue {
        case empty
        case some
        /// So much that whoever fills it is not read until all of it is gone.
        case full
    }

    /// It sends no more.
    private(set) var hasEnded = false
    /// Nothing reaches it any more. What it said before may still be read.
    private(set) var isLost = false
    private(set) var queue = Queue.empty

    /// Queued bytes above which whoever fills the queue is no longer read. The kernel's own buffers are what keeps a fast
    /// peer busy meanwhile: it asks for more when a third of them is free.
    static let highWater = 16 << 10

    mutating func end() { hasEnded = true }

    mutating func lose() {
        isLost = true
        queue = .empty
    }

    /// Something is on its way to it; how much of that waits is told once it has been tried.
    mutating func isSent() { if !isLost, queue == .empty { queue = .some } }

    /// So many bytes wait for it.
    mutating func holds(_ count: Int, highWater: Int) {
        if count == 0 {
            queue = .empty
        } else if count > highWater {
            queue = .full
        } else if queue == .empty {
            queue = .some
        }
    }

    /// All that was meant for it has been taken, or nobody is left to take it.
    var isDone: Bool { queue == .empty }
}
