import Formats

/// Bytes that go out no faster than so many a second; what may not go yet waits here.
struct PacedBytes {
    /// Bytes a second; nil for no limit.
    let rate: Int?
    private var queue: [UInt8]
    private var taken = 0
    /// Up to when the rate was paid out.
    private var paidUntil: Int

    /// Where more than that waits, no more is wanted.
    private static let highWater = 64 << 10
    /// How often something goes out, in milliseconds.
    private static let tick = 50

    init(rate: Int?, _ bytes: [UInt8] = [], now: Int) {
        self.rate = rate
        queue = bytes
        paidUntil = now
    }

    var waiting: Int { queue.count - taken }
    var isFull: Bool { waiting > Self.highWater }

    mutating func append(_ bytes: Span<UInt8>) {
        if taken > Self.highWater {
            queue.removeFirst(taken)
            taken = 0
        }
        queue.append(bytes)
    }

    /// Time that has passed buys nothing.
    mutating func begin(_ now: Int) { paidUntil = now }

    /// When something of what waits may go; nil where nothing does.
    func next(_ now: Int) -> Int? {
        guard waiting > 0 else { return nil }
        guard let rate else { return now }
        return max(now, paidUntil + max(Self.tick, Self.timeOfOne(rate)))
    }

    /// What may go by now.
    mutating func take(_ now: Int) -> [UInt8] {
        var count = waiting
        if let rate {
            // what was not used while nothing was here is not saved up
            paidUntil = max(paidUntil, now - max(Self.tick * 4, Self.timeOfOne(rate)))
            let allowed = rate * (now - paidUntil) / 1000
            guard allowed > 0 else { return [] }
            count = min(count, allowed)
            paidUntil += allowed * 1000 / rate
        }
        let bytes = Array(queue[taken..<taken + count])
        taken += count
        if taken == queue.count {
            queue.removeAll(keepingCapacity: true)
            taken = 0
        }
        return bytes
    }

    /// Of one byte, in milliseconds.
    private static func timeOfOne(_ rate: Int) -> Int { (1000 + rate - 1) / rate }
}
