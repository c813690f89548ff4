import ArgumentParser
import Formats
import Operation

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send a flow's request again through the daemon, and show the response.",
        discussion: """
            The daemon asks its own port, so that the request meets all that a client's would: destinations, limits, interceptors. \
            What is good for one use alone, such as an authorization code or an authId, is not sent again without --force. Nor is \
            a request that holds secrets, unless the journal keeps them (journal.reveal): usher flow ID --curl has it, to be filled in.
            """)

    @OptionGroup var control: ControlOptions

    @Flag(help: "Send it although it holds what is good for one use alone.")
    var force = false

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "The flow, as usher flows lists it.")
    var id: String

    func validate() throws { try ControlOptions.mustName(id) }

    func run() throws {
        let client = try control.client()
        let path = "/v1/flows/*/replay" + (force ? "?force=true" : "")
        let answer = try client.done("POST", path, naming: id, within: 40_000)
        guard let flow = answer["flow"]?.text else {
            if json { return Console.print(TerminalText.json(answer) + "\n") }
            return Console.print("answered with \(answer["status"]?.integer ?? 0); its flow is not kept yet\n")
        }
        let whole = try client.done("GET", "/v1/flows/*", naming: flow)
        Console.print(
            json
                ? TerminalText.json(whole) + "\n"
                : FlowStory(whole, TextStyle(environment: ProcessEnvironment.all)).text)
    }
}
