import ArgumentParser
import Operation

struct JourneyDifference: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract:
            "Compare two logins: status 0 if they went alike, 1 if not, 2 for an error.",
        discussion: """
            The comparison ignores ids, times and counts. It numbers aliases by their order.
            """)

    @OptionGroup var options: ControlReportOptions

    @Argument(help: "The journey to compare with.")
    var old: String

    @Argument(help: "The journey to compare.")
    var new: String

    func validate() throws {
        try ControlOptions.mustName(old)
        try ControlOptions.mustName(new)
    }

    func run() throws {
        let comparison: JourneyComparison
        do {
            let client = try options.control.client()
            let journeys = try [old, new].map { try client.done("GET", "/v1/journeys/*", naming: $0) }
            comparison = JourneyComparison(journeys[0], journeys[1])
        } catch let code as ExitCode where code == ExitCode(1) {
            // exit code 1 means a difference for this command
            throw ExitCode(2)
        }
        options.show(comparison.json) { comparison.text($1) }
        if !comparison.isSame { throw ExitCode(1) }
    }
}
