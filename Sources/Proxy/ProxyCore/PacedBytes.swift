import Formats

/// Bytes that go out at a limited rate; the rest waits here.
struct PacedBytes {
    /// Bytes a second; nil for no limit.
    let rate: Int?
    private var queue: [UInt8]
    private var taken = 0
    /// The time up to which the rate has been used.
    private var paidUntil: Int

    /// The number of waiting bytes from which on no more are read.
    private static let highWater = 64 << 10
    /// The interval between writes, in milliseconds.
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

    /// Starts the clock: earlier time gives no credit.
    mutating func begin(_ now: Int) { paidUntil = now }

    /// The time when waiting bytes may go; nil when none wait.
    func next(_ now: Int) -> Int? {
        guard waiting > 0 else { return nil }
        guard let rate else { return now }
        return max(now, paidUntil + max(Self.tick, Self.timeOfOne(rate)))
    }

    /// The bytes that may go now.
    mutating func take(_ now: Int) -> [UInt8] {
        var count = waiting
        if let rate {
            // idle time gives no credit
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

    /// The time for one byte, in milliseconds.
    private static func timeOfOne(_ rate: Int) -> Int { (1000 + rate - 1) / rate }
}
