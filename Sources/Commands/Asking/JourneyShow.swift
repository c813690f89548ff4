import ArgumentParser
import Operation

struct JourneyShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a login: AM's questions, the answers, their times, and the credentials.",
        discussion: "Secrets are shown by aliases, as in session#3. Each call is a flow: usher flow ID shows it whole.")

    @OptionGroup var control: ControlOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(
        help:
            "Its id as usher journeys lists it, or that of any of its calls; its beginning or end, where these fit no other."
    )
    var id: String

    func validate() throws { try ControlOptions.mustName(id) }

    func run() throws {
        let journey = try control.client().done("GET", "/v1/journeys/*", naming: id)
        Console.print(
            json
                ? TerminalText.json(journey) + "\n"
                : JourneyText(journey, TextStyle(environment: ProcessEnvironment.all)).text)
    }
}
