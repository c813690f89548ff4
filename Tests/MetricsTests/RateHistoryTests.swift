import Interception
import Testing

@testable import Metrics

@Suite("The rates of the last hour")
struct RateHistoryTests {
    private static func take(
        _ loop: LoopMetrics, _ action: Action? = nil, status: Int = 200, error: String? = nil, milliseconds: Int = 3,
        asks: Bool = false
    ) {
        var record = ExchangeRecord()
        (record.action, record.status, record.proxyError, record.milliseconds) = (action, status, error, milliseconds)
        if asks { record.events = [.init(.advice(status: 401, host: "a", summary: "b"), at: 0)] }
        loop.take(record)
    }

    @Test("A point has what ended in its minute, over all loops")
    func minutes() {
        let (one, other) = (LoopMetrics(), LoopMetrics())
        var history = RateHistory(since: 60)
        for loop in [one, other] { Self.take(loop, .authenticate) }
        Self.take(one, status: 404)
        Self.take(one, status: 502, error: "dns_error")
        Self.take(other, status: 0)
        history.end([one, other], at: 120)
        Self.take(other, .authenticate, status: 500)
        let points = history.all([one, other])
        #expect(points.map(\.at) == [60, 120])
        #expect(points[0].rates.map(\.action) == ["AUTHENTICATE", ""])
        #expect(points[0].rates.map(\.requests) == [2, 3] && points[0].rates.map(\.errors) == [0, 2])
        #expect(points[1].rates.map(\.requests) == [1] && points[1].rates.map(\.errors) == [1])
    }

    @Test("An hour is kept")
    func hour() {
        var history = RateHistory(since: 0)
        for minute in 1...100 { history.end([], at: minute * 60) }
        #expect(history.all([]).map(\.at) == (41...100).map { $0 * 60 })
    }

    @Test("Percentiles lie within the bucket of their rank")
    func percentiles() throws {
        let loop = LoopMetrics()
        for _ in 0..<90 { Self.take(loop, milliseconds: 3) }
        for _ in 0..<9 { Self.take(loop, milliseconds: 200) }
        Self.take(loop, milliseconds: 99_000)
        let rate = try #require(RateHistory(since: 0).all([loop])[0].rates.first)
        #expect((1...5).contains(rate.percentile(50)) && (100...250).contains(rate.percentile(95)))
        #expect(rate.percentile(100) == 30_000 && rate.percentile(1) >= 1)
    }

    @Test("Step-ups are counted under the Action that they came for")
    func stepUps() {
        let loop = LoopMetrics()
        Self.take(loop, .authorize, asks: true)
        Self.take(loop, .authorize)
        #expect(RateHistory(since: 0).all([loop])[0].rates.map(\.stepUps) == [1])
    }
}
