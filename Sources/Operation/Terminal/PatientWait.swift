import EventLoop
import Glibc

/// Asking again and again, with a pause between, but not for ever.
public struct PatientWait {
    private let interval: Int
    private let end: Int?

    /// - Parameter limit: in milliseconds; nil for none.
    public init(interval: Int, limit: Int?) {
        self.interval = interval
        end = limit.map { Loop.monotonicMilliseconds() + $0 }
    }

    /// Waits for the next turn.
    /// - Returns: false where it has taken too long.
    public func next() -> Bool {
        if let end, Loop.monotonicMilliseconds() >= end { return false }
        poll(nil, 0, Int32(interval))
        return true
    }
}
