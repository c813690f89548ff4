import ArgumentParser
import Configuration
import ProxyCore
import Usher

/// `--intercept`, beside what the configuration says.
struct InterceptedHosts: ParsableArguments {
    @Option(help: ArgumentHelp("Open the TLS of this host or host glob too; may be repeated.", valueName: "host"))
    var intercept: [String] = []

    func validate() throws {
        for host in intercept where DestinationPattern(host) == nil {
            throw ValidationError("--intercept \(host): expected a host, a host glob or host:port")
        }
    }

    func add(to snapshot: inout Snapshot) {
        let patterns = intercept.compactMap { DestinationPattern($0) }
        snapshot.settings.interception.hosts += patterns
        snapshot.tls.interception.hosts += patterns
    }
}
