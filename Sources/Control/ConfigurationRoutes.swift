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
            "generation": .described("Counts the configurations of this run of the daemon, from 1.", .count),
            "file": .text, "loaded": .described("When it was read, in UTC.", .text),
            "listening": .described("With the ports that it got.", .list(.text)),
            "configuration": .described(
                "What the file says, with the defaults, and REDACTED where a secret might stand.", .map(.any)),
        ])
        let description = RouteDescription(
            "showConfiguration", "The configuration that is in force.", answers: [RouteAnswer("It.", shape)])
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
