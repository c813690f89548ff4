import ArgumentParser
import Formats
import Operation

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send a flow's request again through the daemon, and show the response.",
        discussion: """
            The daemon sends the request to its own port, so that destinations, limits and interceptors apply to it as \
            to a client's. A request with a value for one use, such as an authorization code or an authId, needs \
            --force. A request with secrets can be sent only if the journal keeps them (journal.reveal). Otherwise \
            usher flow ID --curl prints it with gaps to fill in.
            """)

    @OptionGroup var control: ControlOptions

    @Flag(help: "Send the request although it has a value for one use.")
    var force = false

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "The id of the flow; usher flows lists it.")
    var id: String

    func validate() throws { try ControlOptions.mustName(id) }

    func run() throws {
        let client = try control.client()
        let path = "/v1/flows/*/replay" + (force ? "?force=true" : "")
        let answer = try client.done("POST", path, naming: id, within: 40_000)
        guard let flow = answer["flow"]?.text else {
            if json { return Console.print(TerminalText.json(answer) + "\n") }
            let status = answer["status"]?.integer ?? 0
            return Console.print("the response has status \(status); its flow is not recorded yet\n")
        }
        let whole = try client.done("GET", "/v1/flows/*", naming: flow)
        Console.print(
            json
                ? TerminalText.json(whole) + "\n"
                : FlowStory(whole, TextStyle(environment: ProcessEnvironment.all)).text)
    }
}
