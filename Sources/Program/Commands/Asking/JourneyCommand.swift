import ArgumentParser

struct JourneyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journey",
        abstract: "Show one login step by step, or how two differ.",
        subcommands: [JourneyShow.self, JourneyDifference.self], defaultSubcommand: JourneyShow.self)
}
