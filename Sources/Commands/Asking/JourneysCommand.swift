import ArgumentParser
import Formats
import Operation

struct JourneysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journeys",
        abstract: "List the logins that the daemon recorded.",
        discussion: """
            A journey is put together of the flows that are kept: the calls of one login by their authId, what was won by it \
            (a session, a code, tokens), and what that was used for. Each is shown by usher journey ID.

            A filter is outcome=running, suspended, abandoned, succeeded, failed or unknown, by=app or by=usher, \
            login=NAME, or a term of usher flows, as in tree=Login, realm=/alpha, client=10.0.0.7 or since=5m: one of the \
            journey's calls to AM has to meet all of these. KEY!=VALUE and not KEY=VALUE turn a term round.
            """)

    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp("How many of those that are kept, the newest.", valueName: "count"))
    var limit = 100

    @Flag(help: "Print JSON, an object on each line.")
    var json = false

    @Argument(help: ArgumentHelp("What is asked for, as in outcome=failed.", valueName: "filter"))
    var filter: [String] = []

    func validate() throws {
        guard 1...1_000_000 ~= limit else { throw ValidationError("--limit takes a number from 1 to 1000000") }
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
            return Console.print(filter.isEmpty ? Self.nothing : "no journey is kept that fits\n")
        }
        let list = JourneyList(TextStyle(environment: ProcessEnvironment.all), width: FlowList.terminalWidth)
        Console.print(list.text(journeys))
    }

    private static let nothing =
        "no login went through yet: have an app sign in through the proxy at an AM that the configuration names (am), with its host among tls.intercept where it is asked by https\n"
}
