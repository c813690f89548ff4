import ArgumentParser
import Operation

/// The option `--pass-env`: variables that a command receives although the configuration uses them.
struct PassedVariables: ParsableArguments {
    @Option(
        name: .customLong("pass-env"),
        help: ArgumentHelp(
            "Pass this variable to the command although the configuration reads it with ${env.NAME}. Repeatable.",
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
