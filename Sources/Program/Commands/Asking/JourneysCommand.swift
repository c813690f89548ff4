import ArgumentParser
import Operation

struct JourneysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journeys",
        abstract: "List the logins that the daemon recorded.",
        discussion: """
            A journey consists of recorded flows: the calls of one login, joined by their authId, the credentials that \
            it obtained (session, code, tokens), and the requests that used them. usher journey ID shows one.

            A filter is outcome=running, suspended, abandoned, succeeded, failed or unknown, by=app or by=usher, or \
            login=NAME. Filters of usher flows, such as tree=Login, realm=/alpha, client=10.0.0.7 or since=5m, apply \
            too: one of the journey's calls to AM has to match them all. KEY!=VALUE and not KEY=VALUE negate a filter.
            """)

    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp("List at most this many, the newest.", valueName: "count"))
    var limit = 100

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    @Argument(help: ArgumentHelp("Which journeys, such as outcome=failed.", valueName: "filter"))
    var filter: [String] = []

    func validate() throws {
        guard 1...1_000_000 ~= limit else { throw ValidationError("--limit expects a number from 1 to 1000000") }
    }

    func run() throws {
        let terms: JourneyTerms
        do throws(FlowTerms.Fault) { terms = try JourneyTerms(filter) } catch {
            throw CommandExit.usage(error.description)
        }
        let client = try control.client()
        let journeys = try terms.newest(limit) { try client.done("GET", $0) }
        if json { return Console.print(journeys.map { TerminalText.json($0) + "\n" }.joined()) }
        guard !journeys.isEmpty else {
            return Console.print(filter.isEmpty ? Self.nothing : "no journey matches\n")
        }
        let list = JourneyList(TextStyle(environment: ProcessEnvironment.all), width: FlowList.terminalWidth)
        Console.print(list.text(journeys))
    }

    private static let nothing =
        "no login was recorded yet: let an app sign in through the proxy at an AM that am names. "
        + "If the app uses https, name AM's host in tls.intercept.\n"
}
