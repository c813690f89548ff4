internal import Synchronization

/// Shows other threads whether a loop still turns, and its current work. The loop writes by plain stores.
public final class LoopPulse: Sendable {
    /// The last turn in monotonic milliseconds; `over` after the end, 0 before the start.
    private let turned = Atomic<Int>(0)
    /// The type of the source being handled, as a number; 0 between two turns.
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

    /// Records the subject of the current work: a number that the log contains, too.
    @inline(__always)
    public func concerns(_ number: UInt64) { subject.store(number, ordering: .relaxed) }

    /// Records that the loop turns. Call it several times a second.
    public func turn(at now: Int) { turned.store(now, ordering: .relaxed) }

    public func end() { turned.store(Self.over, ordering: .relaxed) }

    // MARK: others

    /// Milliseconds since the last turn; nil before the start and after the end.
    public func age(at now: Int) -> Int? {
        let last = turned.load(ordering: .relaxed)
        return last == 0 || last == Self.over ? nil : max(0, now - last)
    }

    /// The current work; nil while the loop waits.
    public var doing: (kind: String, subject: UInt64?)? {
        let number = kind.load(ordering: .relaxed)
        guard number != 0 else { return nil }
        let type = unsafeBitCast(number, to: EventSource.Type.self)
        let about = subject.load(ordering: .relaxed)
        return ("\(type)", about == 0 ? nil : about)
    }

    /// Counts a stall. For the watching thread alone.
    public func noteStall() { stalls.wrappingAdd(1, ordering: .relaxed) }

    public var stallCount: Int { stalls.load(ordering: .relaxed) }
}
