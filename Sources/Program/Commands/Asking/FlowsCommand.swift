import ArgumentParser
import Formats
import Operation

struct FlowsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flows",
        abstract: "List the exchanges that the daemon recorded.",
        discussion: """
            A filter is KEY=VALUE, KEY!=VALUE or not KEY=VALUE; a flow has to match all filters. A value is exact, a \
            glob with *, or ~ and a regular expression, as in when. Commas separate alternatives.

            The keys are those of when, with header.NAME, query.NAME and cookie.NAME. Further keys: flow, parent, \
            client, user, error, interceptor (one that had an effect), did=throttled (its effect), slower=200ms, \
            larger=10KiB, since=5m or since=2026-11-21T09:25:00Z, until, changed=yes, step_up=yes, and calls=yes, \
            which includes Usher's own calls.

            Marks: C changed by an interceptor, S a step-up or a login, F broken by a fault, D delayed or slowed by an \
            interceptor, U response of Usher, P delivered in part, T tunnel that was not opened, O Usher's own call, E \
            error.
            """)

    @OptionGroup var control: ControlOptions

    @Flag(name: .shortAndLong, help: "Print new flows as they come, until Ctrl-C.")
    var follow = false

    @Option(help: ArgumentHelp("List at most this many, the newest.", valueName: "count"))
    var limit = 100

    @Option(
        help: ArgumentHelp("Wait until this many flows match; exit 1 if they do not come.", valueName: "count"))
    var wait: Int?

    @Option(help: ArgumentHelp("The longest time that --wait waits (default: 10s).", valueName: "duration"))
    var timeout: String?

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    @Argument(help: ArgumentHelp("Which flows, such as status=4xx.", valueName: "filter"))
    var filter: [String] = []

    func validate() throws {
        guard (follow ? 0 : 1)...1_000_000 ~= limit else {
            throw ValidationError("--limit expects a number from \(follow ? 0 : 1) to 1000000")
        }
        if let wait, !(1...1000 ~= wait) { throw ValidationError("--wait expects a number from 1 to 1000") }
        guard wait != nil || timeout == nil else { throw ValidationError("--timeout requires --wait") }
        guard wait == nil || !follow else { throw ValidationError("--wait and --follow exclude each other; give one") }
        if let wait, FlowWait(wait, timeout: timeout) == nil {
            throw ValidationError("--timeout expects \(FlowWait.form)")
        }
    }

    func run() throws {
        let terms = try FlowTerms.given(filter)
        let client = try control.client()
        let list = FlowList(TextStyle(environment: ProcessEnvironment.all), width: FlowList.terminalWidth)
        if let wait, let wait = FlowWait(wait, timeout: timeout) {
            _ = try client.done("GET", wait.path(terms), within: wait.limit)
        }
        if follow { Following.endsQuietly() }
        let (flows, last) = try FlowPages(terms) { try client.done("GET", $0) }.newest(limit)
        if flows.isEmpty, !follow, !json { return Console.print("no flow matches\n") }
        if !json { Console.print(list.heading) }
        Console.print(flows.map { shown($0, list) }.joined())
        if follow { try go(on: client, terms.path("/v1/flows/stream", [("after", last)]), list) }
    }

    private func shown(_ flow: JSONValue, _ list: FlowList) -> String {
        json ? TerminalText.json(flow) + "\n" : list.row(flow)
    }

    private func go(on client: ControlClient, _ path: String, _ list: FlowList) throws {
        let reply: ControlClient.Reply?
        do throws(ControlClient.Fault) {
            reply = try client.follow(path) { name, data in
                switch name {
                case "flow": Console.print(shown(data, list))
                case "lost":
                    Console.error(
                        "\(data["count"]?.integer ?? 0) flows are not shown: they came faster than they were read")
                default: break
                }
                return true
            }
        } catch {
            throw CommandExit.failure(error.description)
        }
        if case .refused(_, let words)? = reply { throw CommandExit.failure(TerminalText.shown(words)) }
        throw CommandExit.failure("the daemon has stopped")
    }
}

extension FlowTerms {
    /// Parses the typed terms, or exits with 2 and a message.
    static func given(_ words: [String]) throws -> FlowTerms {
        do throws(FlowTerms.Fault) { return try FlowTerms(words) } catch { throw CommandExit.usage(error.description) }
    }
}
