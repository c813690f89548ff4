import EventLoop
import TLSEngine

/// Reads the system's authorities while the configuration is loaded, which shortens the start.
public final class TrustAhead: Sendable {
    private let trust = Locked<SystemTrust?>(nil)
    private let queue = WorkQueue("trust")
    /// The longest wait for the disk, in milliseconds.
    private static let timeout = 10_000

    public init() {
        try? queue.run { [trust] in
            let read = SystemTrust()
            trust.withLock { $0 = read }
        }
    }

    /// Call it before the process exits: the exit tears OpenSSL down, so no thread may use it then.
    public func finish() { queue.rests(withinMilliseconds: Self.timeout) }

    /// The result, at the first call; nil if the caller must read the authorities itself.
    func take() -> SystemTrust? {
        finish()
        return trust.withLock { trust in
            defer { trust = nil }
            return trust
        }
    }
}
