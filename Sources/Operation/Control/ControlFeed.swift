import Control
import EventLoop

/// The way of events from whatever thread to one follower's connection.
final class ControlFeed: ControlFollower {
    private let queue = Locked(FeedQueue())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: has the connection look here, on its loop.
    init(_ wake: @escaping @Sendable () -> Void) { self.wake = wake }

    func send(_ event: ServerEvent) -> Bool {
        let (isOpen, wakes) = queue.withLock { queue in (!queue.isOver, queue.add(event)) }
        if wakes { wake() }
        return isOpen
    }

    func end() {
        if queue.withLock({ $0.end() }) { wake() }
    }

    // MARK: the connection's side

    /// What may go out, and whether nothing follows it.
    func take() -> (bytes: [UInt8], isLast: Bool) { queue.withLock { ($0.take(), $0.isOver) } }

    func sent() { queue.withLock { $0.sent() } }

    /// Nobody follows any more.
    func leave() { queue.withLock { _ = $0.end() } }
}
