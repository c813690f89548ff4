import Testing

@testable import HTTP2

@Suite("How much a long path holds")
struct BandwidthEstimatorTests {
    private var estimator = BandwidthEstimator()
    private var now = 0

    /// A round trip of so many milliseconds in which so much comes; false where nobody asks how long it is.
    private mutating func trip(_ bytes: Int, _ milliseconds: Int = 20) -> Bool {
        let asks = estimator.came(8 << 10, now: now)
        now += milliseconds
        let again = estimator.came(bytes, now: now)
        #expect(!asks || !again, "one PING at a time")
        estimator.answered(now: now)
        return asks
    }

    @Test mutating func whatFillsTheWindowAsksForMore() {
        let least = (FlowWindows.stream * 2 + 2) / 3
        #expect(trip(least) && estimator.window == 4 * least)
        // again at once, up to a bound
        for _ in 0..<5 { #expect(trip(estimator.window)) }
        #expect(estimator.window == 4 << 20)
        #expect(trip(8 << 20) && estimator.window == 4 << 20)
    }

    @Test mutating func whatDoesNotFillItAsksForNone() {
        #expect(trip(FlowWindows.stream * 2 / 3 - 1) && estimator.window == FlowWindows.stream)
        #expect(trip(FlowWindows.stream) && estimator.window == 4 * FlowWindows.stream)
        #expect(trip(FlowWindows.stream) && estimator.window == 4 * FlowWindows.stream)
    }

    @Test mutating func aShortWayIsFullAndLeftAloneForAWhile() {
        #expect(trip(1 << 20, 3) && estimator.window == FlowWindows.stream)
        let early = estimator.came(1 << 20, now: now + 499)
        #expect(!early)
        now += 500
        #expect(trip(1 << 20, 4) && estimator.window > FlowWindows.stream)
    }

    @Test mutating func ofSmallBodiesNobodyAsks() {
        let small = estimator.came((8 << 10) - 1, now: 0)
        let large = estimator.came(1, now: 0)
        #expect(!small && large)
    }

    @Test mutating func anAnswerThatNobodyAskedForIsNone() {
        estimator.answered(now: 100)
        let asks = estimator.came(8 << 10, now: 100)
        #expect(asks && estimator.window == FlowWindows.stream)
    }
}
