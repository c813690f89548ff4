import Control
import EventLoop

/// Passes events from any thread to one follower's connection.
final class ControlFeed: ControlFollower {
    private let queue = Locked(FeedQueue())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: makes the connection look here, on its loop.
    init(_ wake: @escaping @Sendable () -> Void) { self.wake = wake }

    func send(_ event: ServerEvent) -> Bool {
        let (isOpen, wakes) = queue.withLock { queue in (!queue.isOver, queue.add(event)) }
        if wakes { wake() }
        return isOpen
    }

    func end() {
        if queue.withLock({ $0.end() }) { wake() }
    }

    // MARK: connection

    /// The events to send, and whether the stream ends after them.
    func take() -> (bytes: [UInt8], isLast: Bool) { queue.withLock { ($0.take(), $0.isOver) } }

    func sent() { queue.withLock { $0.sent() } }

    /// The follower has disconnected.
    func leave() { queue.withLock { _ = $0.end() } }
}
