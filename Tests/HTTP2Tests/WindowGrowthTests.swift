import Testing

@testable import HTTP2

@Suite("windows over a long way")
struct WindowGrowthTests {
    private let base = Session.streamWindow

    /// Has so much come within a round trip of so many milliseconds.
    private func trip(_ growth: inout WindowGrowth, _ bytes: Int, _ milliseconds: Int, _ now: inout Int) -> Int32? {
        guard growth.came(0, now: now) else { return nil }
        now += milliseconds
        let asks = growth.came(bytes, now: now)
        #expect(!asks)
        return growth.answered(now: now)
    }

    private func begun() -> WindowGrowth {
        var growth = WindowGrowth()
        growth.begin(1)
        let asks = [growth.came(Int(base) / 2 - 1, now: 0), growth.came(1, now: 0)]
        #expect(asks == [false, true])
        let grown = growth.answered(now: 0)
        #expect(grown == nil)
        return growth
    }

    @Test func aWindowsWorthATripOpensIt() {
        var growth = begun()
        var now = 1_000
        do {
            let size = trip(&growth, Int(base), 20, &now)
            #expect(size == 2 * base)
        }
        do {
            let size = trip(&growth, 2 * Int(base), 20, &now)
            #expect(size == WindowGrowth.most)
        }
        // there is no more
        do {
            let size = trip(&growth, 9 * Int(base), 20, &now)
            #expect(size == nil)
        }
        #expect(WindowGrowth.most + base == Session.connectionWindow)
    }

    @Test func aShortWayOpensNothing() {
        var growth = begun()
        var now = 1_000
        do {
            let size = trip(&growth, 9 * Int(base), 3, &now)
            #expect(size == nil)
        }
        // and is not measured all the time
        let asks = [growth.came(1, now: now + 499), growth.came(1, now: now + 500)]
        #expect(asks == [false, true])
    }

    @Test func whoSendsLittleNeedsNoMore() {
        var growth = begun()
        var now = 1_000
        do {
            let size = trip(&growth, Int(base) / 2 - 1, 20, &now)
            #expect(size == nil)
        }
    }

    @Test func anotherBodyBeginsAnew() {
        var growth = begun()
        var now = 1_000
        do {
            let size = trip(&growth, Int(base), 20, &now)
            #expect(size == 2 * base)
        }
        growth.begin(3)
        let asks = growth.came(1, now: now)
        #expect(growth.window == base && !asks)
    }
}
