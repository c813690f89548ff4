import Formats
import Metrics

extension RateHistory {
    /// The answer of `/v1/rates`.
    func json(_ loops: [LoopMetrics]) -> JSONValue {
        [
            "interval_s": .integer(Self.interval),
            "points": .array(
                all(loops).map { point in
                    [
                        "at": .string(CalendarTime(point.at).internet),
                        "actions": .array(point.rates.map(Self.json)),
                    ]
                }),
        ]
    }

    private static func json(_ rate: Rate) -> JSONValue {
        [
            "action": .string(rate.action), "requests": .integer(rate.requests), "errors": .integer(rate.errors),
            "step_ups": .integer(rate.stepUps), "p50_ms": .integer(rate.percentile(50)),
            "p95_ms": .integer(rate.percentile(95)), "p99_ms": .integer(rate.percentile(99)),
        ]
    }
}
