public import Formats

/// The active configuration.
public protocol ConfigurationInForce: AnyObject {
    var generation: Int { get }
    /// The path as given.
    var file: String { get }
    /// The time it was read, in seconds since 1970.
    var readAt: Int { get }
    /// The proxy's addresses with the bound ports.
    var addresses: [String] { get }
    /// The configuration with defaults and without secrets.
    var document: JSONValue { get }
}

/// The route that shows the configuration.
public struct ConfigurationRoutes {
    private let running: any ConfigurationInForce

    public init(_ running: any ConfigurationInForce) { self.running = running }

    public var all: [ControlRoute] { [showing] }

    private var showing: ControlRoute {
        let shape = ControlShape.object([
            "generation": .described("The number of the configuration since the daemon started, from 1.", .count),
            "file": .text, "loaded": .described("The time when it was read, in UTC.", .text),
            "listening": .described("The addresses, with the ports in use.", .list(.text)),
            "configuration": .described(
                "The configuration with its defaults. REDACTED replaces possible secrets.", .map(.any)),
        ])
        let description = RouteDescription(
            "showConfiguration", "The current configuration.", answers: [RouteAnswer("It.", shape)])
        return ControlRoute("GET", "/v1/configuration", description) { _ throws(ControlProblem) in
            .json(
                .object([
                    .init("generation", .integer(running.generation)), .init("file", .string(running.file)),
                    .init("loaded", .string(CalendarTime(running.readAt).internet)),
                    .init("listening", .array(running.addresses.map { .string($0) })),
                    .init("configuration", running.document),
                ]))
        }
    }
}
