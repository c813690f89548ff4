import Testing

@testable import Operation

@Suite("Rates over the last while")
struct RateWindowTests {
    @Test func whatCameWithinTheSpanCounts() {
        var rate = RateWindow()
        for second in 0...30 { rate.note(second < 20 ? 0 : (second - 20) * 50, now: second * 1000) }
        #expect(rate.perSecond(over: 10_000, 500, now: 30_000) > 40)
        #expect(rate.perSecond(over: 10_000, 500, now: 30_000) <= 50)
        // what is known of is shorter than the span
        #expect(rate.perSecond(over: 60_000, 500, now: 30_000) > 16)
        #expect(rate.perSecond(over: 60_000, 500, now: 30_000) < 17)
    }

    @Test func whatIsLongAgoIsForgotten() {
        var rate = RateWindow()
        for second in 0...200 { rate.note(min(second, 100), now: second * 1000) }
        #expect(rate.perSecond(over: 60_000, 100, now: 200_000) == 0)
    }

    @Test func nothingIsKnownAtFirst() {
        var rate = RateWindow()
        #expect(rate.perSecond(over: 10_000, 5, now: 7) == 0)
        rate.note(5, now: 7)
        #expect(rate.perSecond(over: 10_000, 5, now: 7) == 0)
    }
}

@Suite("Which loops stand still")
struct StallJudgeTests {
    private var judge = StallJudge(["worker 0", "worker 1"], limit: 1000)

    @Test mutating func eachIsToldOnceAndWhenItIsOver() {
        func words(_ ages: [Int?]) -> [String] { judge.judge(ages) { "does \($0)" }.map(\.1.text) }
        #expect(words([10, 999]) == [])
        #expect(words([20, 1100]) == ["worker 1 has been blocked for 1.1 s: it does 1"])
        #expect(words([1000, 2300]) == ["worker 0 has been blocked for 1.0 s: it does 0"])
        #expect(words([5, 2500]) == ["worker 0 runs again after 1.0 s"])
        #expect(words([5, 3]) == ["worker 1 runs again after 2.5 s"])
        #expect(words([5, 3]) == [])
    }

    @Test mutating func oneThatHasEndedIsNeither() {
        #expect(judge.judge([5000, nil]) { _ in "" }.count == 1)
        #expect(judge.judge([nil, nil]) { _ in "" }.isEmpty)
    }
}
