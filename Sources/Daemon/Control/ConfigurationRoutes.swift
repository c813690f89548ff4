public import Formats

/// The route that shows the configuration.
public struct ConfigurationRoutes {
    private let running: () -> JSONValue

    /// - Parameter running: shows the active configuration.
    public init(_ running: @escaping () -> JSONValue) { self.running = running }

    public var all: [ControlRoute] { [showing] }

    private var showing: ControlRoute {
        let shape = ControlShape.object([
            "generation": .described("The number of the configuration since the daemon started, from 1.", .count),
            "file": .text, "loaded": .described("The time when it was read, in UTC.", .text),
            "listening": .described("The addresses, with the ports in use.", .list(.text)),
            "configuration": .described(
                "The configuration with its defaults. REDACTED replaces possible secrets.", .map(.any)),
        ])
        return ControlRoute(
            "GET", "/v1/configuration", "showConfiguration", "The current configuration.",
            answers: [RouteAnswer("It.", shape)]
        ) { _ throws(ControlProblem) in
            .json(running())
        }
    }
}
