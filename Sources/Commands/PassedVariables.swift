import ArgumentParser
import Configuration
import Operation

/// The option `--pass-env`: variables that a command receives although the configuration uses them.
struct PassedVariables: ParsableArguments {
    @Option(
        name: .customLong("pass-env"),
        help: ArgumentHelp(
            "Let the command have this variable though the configuration reads it by ${env.NAME}; may be repeated.",
            valueName: "name"))
    var names: [String] = []

    func validate() throws {
        for name in names where name.isEmpty || name.contains("=") {
            throw ValidationError("--pass-env \(name): expected the name of a variable, without a value")
        }
    }

    func environment(_ context: CommandContext) -> CommandEnvironment {
        CommandEnvironment(context.environment, for: context.snapshot, passing: names)
    }
}
