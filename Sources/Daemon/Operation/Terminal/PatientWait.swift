import EventLoop
import Glibc

/// Polling with an interval and a time limit.
public struct PatientWait {
    private let interval: Int
    private let end: Int?

    /// - Parameter limit: in milliseconds; nil for no limit.
    public init(interval: Int, limit: Int?) {
        self.interval = interval
        end = limit.map { Loop.monotonicMilliseconds() + $0 }
    }

    /// Waits for the next turn.
    /// - Returns: false after the limit.
    public func next() -> Bool {
        if let end, Loop.monotonicMilliseconds() >= end { return false }
        poll(nil, 0, Int32(interval))
        return true
    }
}
