import ArgumentParser
import Configuration
import Operation

/// `--intercept`, beside what the configuration says.
struct InterceptedHosts: ParsableArguments {
    @Option(help: ArgumentHelp("Open the TLS of this host or host glob too; may be repeated.", valueName: "host"))
    var intercept: [String] = []

    /// - Throws: exit 2 with words on standard error.
    func add(to snapshot: inout Snapshot) throws {
        for host in intercept where !snapshot.intercept(host) {
            throw CommandExit.usage("--intercept \(host): expected a host, a host glob or host:port")
        }
    }
}
