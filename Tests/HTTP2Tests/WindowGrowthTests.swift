import Testing

@testable import HTTP2

@Suite("whether a window is what holds a body up")
struct WindowGrowthTests {
    /// As large as it gets by itself, with nothing of it waiting.
    private var window: StreamWindow {
        var window = StreamWindow()
        window.begin(StreamWindow.most)
        return window
    }

    /// Has so much come within a round trip of so many milliseconds. Nil where no PING is asked for.
    private func trip(
        _ growth: inout WindowGrowth, _ window: StreamWindow, _ bytes: Int, _ milliseconds: Int, _ now: inout Int
    ) -> Bool? {
        guard growth.came(0, now: now) else { return nil }
        now += milliseconds
        let asks = growth.came(bytes, now: now)
        #expect(!asks)
        return growth.answered(window, now: now)
    }

    private func begun(now: Int = 0) -> WindowGrowth {
        var growth = WindowGrowth()
        growth.begin(1, now: now)
        // how long the way is, is found out with the first body that is no tiny one
        var asks = growth.came(2_047, now: now)
        #expect(!asks)
        asks = growth.came(1, now: now)
        #expect(asks && !growth.answered(window, now: now) && !growth.isFar)
        growth.begin(1, now: now)
        growth.grew()
        asks = growth.came(StreamWindow.usual - 1, now: now)
        #expect(!asks, "the body may be a small one")
        _ = growth.came(1, now: now)
        _ = growth.answered(window, now: now)
        growth.grew()
        return growth
    }

    @Test(
        "Half a window in a round trip, and a long one",
        arguments: [
            (StreamWindow.most / 2, 4, true), (StreamWindow.most / 2 - 1, 20, false), (9 * StreamWindow.most, 3, false),
        ])
    func needsMore(_ bytes: Int, _ milliseconds: Int, _ needs: Bool) {
        var growth = begun()
        var now = 1_000
        #expect(trip(&growth, window, bytes, milliseconds, &now) == needs)
        // nobody is asked all the time
        #expect(growth.came(1, now: now + 499) == false)
        #expect(growth.came(1, now: now + 500) == true)
    }

    @Test("A window that was made larger is looked at again at once")
    func grew() {
        var growth = begun()
        var now = 1_000
        #expect(trip(&growth, window, StreamWindow.most, 20, &now) == true)
        growth.grew()
        #expect(trip(&growth, window, StreamWindow.most, 20, &now) == true)
    }

    @Test("Where whoever takes the bytes is what holds it up, the window stays, and is looked at again")
    func heldUpElsewhere() {
        var growth = begun()
        var now = 1_000
        var window = window
        window.came(StreamWindow.usual)
        #expect(trip(&growth, window, StreamWindow.most, 20, &now) == false)
        window.use(1)
        #expect(trip(&growth, window, StreamWindow.most, 20, &now) == true)
    }

    @Test("One that grows by itself is left to that, unless there is no room for it")
    func young() {
        var growth = begun()
        var now = 1_000
        var window = StreamWindow()
        window.begin(StreamWindow.usual)
        #expect(trip(&growth, window, StreamWindow.usual, 20, &now) == false)
        window.came(StreamWindow.usual)
        window.use(StreamWindow.usual)
        #expect(trip(&growth, window, StreamWindow.usual, 20, &now) == true)
    }

    @Test("What has filled the first windows in two round trips needs more at once")
    func outgrew() {
        var growth = begun()
        var now = 1_000
        #expect(trip(&growth, window, 0, 20, &now) == false)
        growth.begin(3, now: 2_000)
        #expect(growth.outgrew(3, now: 2_040) && !growth.outgrew(3, now: 2_041) && !growth.outgrew(1, now: 2_000))
        // not where the way is short
        #expect(growth.came(StreamWindow.usual, now: 3_000) == true)
        #expect(growth.answered(window, now: 3_003) == false)
        growth.begin(5, now: 4_000)
        #expect(!growth.outgrew(5, now: 4_000))
    }
}
