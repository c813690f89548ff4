internal import Synchronization

/// A notice that is given once across all loops.
public final class OnceNotice: Sendable {
    private let isSpent = Atomic(false)

    public var isGiven: Bool { isSpent.load(ordering: .relaxed) }

    /// - Returns: true for the first call only.
    public func give() -> Bool { !isSpent.exchange(true, ordering: .relaxed) }
}
