import ArgumentParser

struct JourneyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journey",
        abstract: "Show one login step by step, how two differ, or as a tree for the sandbox.",
        subcommands: [JourneyShow.self, JourneyDifference.self, JourneyTree.self], defaultSubcommand: JourneyShow.self)
}
