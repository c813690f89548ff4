internal import Synchronization

/// A word that is said once, by whichever loop comes to it first.
public final class OnceNotice: Sendable {
    private let isSpent = Atomic(false)

    public var isGiven: Bool { isSpent.load(ordering: .relaxed) }

    /// - Returns: true for the first alone.
    public func give() -> Bool { !isSpent.exchange(true, ordering: .relaxed) }
}
