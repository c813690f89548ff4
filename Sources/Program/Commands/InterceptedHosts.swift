import ArgumentParser
import Configuration
import Operation

/// The option `--intercept`, which adds to the configuration.
struct InterceptedHosts: ParsableArguments {
    @Option(help: ArgumentHelp("Open the TLS of this host or host glob, too. Repeatable.", valueName: "host"))
    var intercept: [String] = []

    /// - Throws: exit code 2, with a message on standard error.
    func add(to snapshot: inout Snapshot) throws {
        for host in intercept where !snapshot.intercept(host) {
            throw CommandExit.usage("--intercept \(host): expected a host, a host glob or host:port")
        }
    }
}
