import ArgumentParser
import Configuration
import Formats
import Operation

struct SessionFault: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault", abstract: "Switch a fault of a test session on or off.",
        usage: """
            usher session fault <id> <fault> on [--times <times>] [--percent <percent>] [--when '<condition>']
            usher session fault <id> <fault> off
            """,
        discussion: "usher faults lists the faults, with what an app sees of each.")

    @OptionGroup var options: ControlReportOptions
    @OptionGroup var rule: RuleOptions

    @Option(help: ArgumentHelp("Further conditions, as in usher session rule.", valueName: "condition"))
    var when: String?

    @Argument(help: "The id or the name of the session.")
    var id: String

    @Argument(help: "The name of the fault.")
    var fault: String

    enum State: String, ExpressibleByArgument, CaseIterable { case on, off }

    @Argument(help: "on or off.")
    var state = State.on

    func validate() throws {
        try ControlOptions.mustName(id)
        if state == .off, when != nil || rule.times != nil || rule.percent != nil {
            throw ValidationError("off takes no further options")
        }
    }

    /// The name of the rule that stands for the fault.
    private var name: String { rule.name ?? "fault \(fault)" }

    func run() throws {
        guard state == .on else { return try options.removeRule(name, from: id) }
        var made = rule.complete(try RuleWords.read(when ?? "", "fault \(fault)"))
        made["name"] = .string(name)
        try options.add(made, to: id)
    }
}
