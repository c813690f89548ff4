import ArgumentParser
import Configuration
import Operation

/// The option `--config`, shared by all commands.
struct ConfigurationFile: ParsableArguments {
    static let standard = "/etc/usher/usher.yaml"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration: a file or a folder of .yaml files. Repeatable. Default: \(ConfigurationFile.standard).",
            valueName: "file"))
    var config: [String] = []

    /// Loads the configuration. Named files must exist; without the standard file, the defaults apply.
    /// - Parameters:
    ///   - isThere: true if the standard file existed before and must not be missing now.
    ///   - missing: the handling of references to missing secrets.
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

    /// The configured control socket, even if the configuration has errors; nil if it is not set.
    var controlSocket: String? { ConfigurationLoader.controlSocket(paths: config.isEmpty ? [Self.standard] : config) }

    /// Loads the configuration, or exits with 1 and every error on standard error.
    /// - Parameters:
    ///   - warns: true to print warnings, too.
    ///   - missing: the handling of references to missing secrets.
    ///   - failing: called with the errors before the exit.
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
