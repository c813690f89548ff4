internal import Synchronization

/// Says from any thread whether a loop still turns, and what it is at. The loop alone writes, by plain stores.
public final class LoopPulse: Sendable {
    /// Monotonic milliseconds; `over` where it has ended, 0 before it begins.
    private let turned = Atomic<Int>(0)
    /// The type of what is being handled, as a number; 0 between two turns.
    private let kind = Atomic<UInt>(0)
    private let subject = Atomic<UInt64>(0)
    private let stalls = Atomic<Int>(0)

    private static let over = Int.max

    public init() {}

    // MARK: the loop

    @inline(__always)
    func begin(_ source: EventSource) {
        kind.store(unsafeBitCast(type(of: source) as EventSource.Type, to: UInt.self), ordering: .relaxed)
    }

    func rest() {
        kind.store(0, ordering: .relaxed)
        subject.store(0, ordering: .relaxed)
    }

    /// What is handled is about that; a number that the log has, too.
    @inline(__always)
    public func concerns(_ number: UInt64) { subject.store(number, ordering: .relaxed) }

    /// It is at work still. To be told several times a second.
    public func turn(at now: Int) { turned.store(now, ordering: .relaxed) }

    public func end() { turned.store(Self.over, ordering: .relaxed) }

    // MARK: others

    /// How long it has not turned, in milliseconds; nil where it has not begun, or has ended.
    public func age(at now: Int) -> Int? {
        let last = turned.load(ordering: .relaxed)
        return last == 0 || last == Self.over ? nil : max(0, now - last)
    }

    /// What it is at; nil where it waits.
    public var doing: (kind: String, subject: UInt64?)? {
        let number = kind.load(ordering: .relaxed)
        guard number != 0 else { return nil }
        let type = unsafeBitCast(number, to: EventSource.Type.self)
        let about = subject.load(ordering: .relaxed)
        return ("\(type)", about == 0 ? nil : about)
    }

    /// One more time it did not turn for too long. Of the one thread that watches.
    public func noteStall() { stalls.wrappingAdd(1, ordering: .relaxed) }

    public var stallCount: Int { stalls.load(ordering: .relaxed) }
}
