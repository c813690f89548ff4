public import Formats

/// The route of the rates of the last hour.
public struct RateRoutes {
    private let rates: () -> JSONValue

    public init(_ rates: @escaping () -> JSONValue) { self.rates = rates }

    public var all: [ControlRoute] { [showing] }

    private var showing: ControlRoute {
        let milliseconds = ControlShape.described("In milliseconds.", .count)
        let action = ControlShape.object([
            "action": .described("Empty for requests without an Action.", .text), "requests": .count,
            "errors": .described("Requests with a 5xx, an error of the proxy, or no response.", .count),
            "step_ups": .described("Responses that asked for a step-up.", .count), "p50_ms": milliseconds,
            "p95_ms": milliseconds, "p99_ms": milliseconds,
        ])
        return ControlRoute(
            "GET", "/v1/rates", "showRates",
            "Shows what ended in each minute of the last hour, by Action. The running minute is the last point.",
            answers: [
                RouteAnswer(
                    "The points, the oldest first.",
                    .object([
                        "interval_s": .count,
                        "points": .list(
                            .object([
                                "at": .described("The beginning, in UTC.", .text), "actions": .list(action),
                            ])),
                    ]))
            ]
        ) { _ throws(ControlProblem) in .json(rates()) }
    }
}
