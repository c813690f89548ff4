import ArgumentParser
import Operation

struct JourneyShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a login: AM's questions, the answers, their times, and the credentials.",
        discussion:
            "Aliases such as session#3 replace the secrets. Each call is a flow: usher flow ID shows all of it.")

    @OptionGroup var options: ControlReportOptions

    @Argument(
        help:
            "The id of the journey or of one of its calls, or a unique beginning or end; usher journeys lists them."
    )
    var id: String

    func validate() throws { try ControlOptions.mustName(id) }

    func run() throws {
        try options.report("GET", "/v1/journeys/*", naming: id) { JourneyText($0, $1).text }
    }
}
