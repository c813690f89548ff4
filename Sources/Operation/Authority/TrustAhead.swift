import EventLoop
import TLSEngine

/// Reads the system's authorities while the configuration is read: a start waits for both at once.
public final class TrustAhead: Sendable {
    private let trust = Locked<SystemTrust?>(nil)
    private let queue = WorkQueue("trust")
    /// How long a disk is waited for, in milliseconds.
    private static let timeout = 10_000

    public init() {
        try? queue.run { [trust] in
            let read = SystemTrust()
            trust.withLock { $0 = read }
        }
    }

    /// Once, before the process ends: its end takes OpenSSL apart, which must not be at work here then.
    public func finish() { queue.rests(withinMilliseconds: Self.timeout) }

    /// What was read, once; nil where it has to be read by whoever needs it.
    func take() -> SystemTrust? {
        finish()
        return trust.withLock { trust in
            defer { trust = nil }
            return trust
        }
    }
}
