import ArgumentParser
import Configuration
import Operation

/// `--config`, as every command takes it.
struct ConfigurationFile: ParsableArguments {
    static let standard = "/etc/usher/usher.yaml"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration (default: \(ConfigurationFile.standard)), or a folder of .yaml files; may be repeated.",
            valueName: "file"))
    var config: [String] = []

    /// A file that was named must be there; the usual one may be missing, and the defaults hold then.
    /// - Parameters:
    ///   - isThere: it was there before, and is not to be done without.
    ///   - missing: what becomes of references whose secrets are not there.
    func load(
        generation: Int = 1, isThere: Bool = false, missing: MissingSecrets = .refused
    ) -> Result<Snapshot, ConfigurationFaults> {
        let environment = ProcessEnvironment.all
        let interceptors = RegisteredInterceptors.all
        if !config.isEmpty {
            return ConfigurationLoader.load(
                paths: config, generation: generation, environment: environment, interceptors: interceptors,
                missing: missing)
        }
        guard isThere || !Input.isMissing(Self.standard) else {
            return ConfigurationLoader.load(
                text: "version: 1\n", file: "(defaults)", generation: generation, environment: environment,
                interceptors: interceptors, readFile: { _ throws(FileFault) in throw .missing })
        }
        return ConfigurationLoader.load(
            paths: [Self.standard], generation: generation, environment: environment, interceptors: interceptors,
            missing: missing)
    }

    /// Where it says that the daemon is spoken to, whatever else is wrong with it; nil where it does not say.
    var controlSocket: String? { ConfigurationLoader.controlSocket(paths: config.isEmpty ? [Self.standard] : config) }

    /// The configuration, or exit 1 with every fault on standard error.
    /// - Parameters:
    ///   - warns: says what is likely not meant, too.
    ///   - missing: what becomes of references whose secrets are not there.
    ///   - failing: is told as well.
    func loadOrExit(
        warns: Bool = true, missing: MissingSecrets = .refused, failing: (ConfigurationFaults) -> Void = { _ in }
    ) throws -> Snapshot {
        switch load(missing: missing) {
        case .success(let snapshot):
            if warns { for warning in snapshot.warnings { Console.plain(warning.description) } }
            return snapshot
        case .failure(let faults):
            for fault in faults.diagnostics { Console.plain(fault.description) }
            failing(faults)
            throw ExitCode(1)
        }
    }
}
