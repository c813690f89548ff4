import Interception
import Testing

/// Chance that a seed decides on.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

struct DelayTests {
    private static func waits(_ backoff: Backoff, _ count: Int = 5) -> [Int] {
        var chance = Seeded(state: 1)
        return (1...count).map { backoff.delay(after: $0, chance: &chance) }
    }

    @Test("Waits are of one length, or grow up to the cap")
    func backoff() {
        #expect(Self.waits(Backoff(first: 250)) == [250, 250, 250, 250, 250])
        #expect(Self.waits(Backoff(first: 250, factor: 2)) == [250, 500, 1000, 2000, 4000])
        #expect(Self.waits(Backoff(first: 250, factor: 2, cap: 1200)) == [250, 500, 1000, 1200, 1200])
        #expect(Self.waits(Backoff(first: 100, factor: 0.5)) == [100, 50, 25, 12, 6])
        #expect(Self.waits(Backoff(first: 5000, cap: 1000)) == [1000, 1000, 1000, 1000, 1000])
        #expect(Self.waits(Backoff(first: 0, factor: 9)) == [0, 0, 0, 0, 0])
        #expect(Self.waits(Backoff(first: -5, factor: -1, cap: -1)) == [0, 0, 0, 0, 0])
        var chance = Seeded(state: 1)
        let steep = Backoff(first: .max, factor: 1e300, cap: 7)
        #expect(Self.waits(Backoff(first: 0, factor: .infinity, cap: 7)) == [0, 7, 7, 7, 7])
        #expect(Self.waits(Backoff(first: 5, factor: .nan, cap: 7, jitter: .nan)).allSatisfy { (0...7).contains($0) })
        for attempt in [Int.min, -1, 0, 1, 2, 1000, .max] {
            #expect((0...7).contains(steep.delay(after: attempt, chance: &chance)))
        }
    }

    @Test("Chance shortens waits by no more than its part")
    func jitter() {
        let waits = Self.waits(Backoff(first: 1000, jitter: 0.25), 2000)
        #expect(waits.allSatisfy { (750...1000).contains($0) } && Set(waits).count > 100)
        let whole = Self.waits(Backoff(first: 1000, jitter: 1), 2000)
        #expect(whole.allSatisfy { (0...1000).contains($0) } && (whole.min() ?? 1000) < 50)
        #expect(Self.waits(Backoff(first: 1000, jitter: 7), 100).allSatisfy { (0...1000).contains($0) })
    }

    private static func drawn(_ distribution: Distribution, bound: Int = Distribution.longest) -> [Int] {
        var chance = Seeded(state: 42)
        return (0..<20_000).map { _ in distribution.draw(&chance, bound: bound) }.sorted()
    }

    @Test("Distributions have the shape that they are named for")
    func distributions() {
        #expect(Set(Self.drawn(.fixed(800))) == [800])
        let uniform = Self.drawn(.uniform(100...200))
        #expect(uniform.first == 100 && uniform.last == 200 && (145...155).contains(uniform[10_000]))
        let normal = Self.drawn(.normal(mean: 1000, deviation: 100))
        #expect((990...1010).contains(normal[10_000]) && (1150...1180).contains(normal[19_000]))
        #expect((820...850).contains(normal[1000]))
        let log = Self.drawn(.lognormal(median: 100, p95: 500))
        #expect((95...105).contains(log[10_000]) && (470...530).contains(log[19_000]) && (log.last ?? 0) > 1000)
        let measured = Self.drawn(.percentiles([.init(99, 2000), .init(50, 100), .init(90, 400)]))
        #expect((98...103).contains(measured[10_000]) && (17_800...18_200).contains(measured.count { $0 <= 400 }))
        #expect(measured.first == 100 && measured.last == 2000)
    }

    @Test(
        "None is below 0 or above its bound",
        arguments: [
            Distribution.fixed(-1), .fixed(.max), .normal(mean: 0, deviation: 1000), .lognormal(median: 1, p95: .max),
            .lognormal(median: -1, p95: 0), .lognormal(median: 5, p95: 5), .percentiles([]),
            .percentiles([.init(50, .max)]),
            .percentiles([.init(50, 1), .init(50, 2)]), .percentiles([.init(.nan, 1)]),
            .percentiles([.init(.nan, 1), .init(.nan, 2), .init(5, 3)]),
        ])
    func bounds(_ distribution: Distribution) {
        #expect(Self.drawn(distribution, bound: 500).allSatisfy { (0...500).contains($0) })
        #expect(Self.drawn(distribution, bound: -3).allSatisfy { $0 == 0 })
    }
}
