import ArgumentParser
import Formats
import Operation

struct FlowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flow",
        abstract: "Show one flow: its messages before and after the interceptors, and its events.",
        discussion: """
            Secrets are shown by aliases, as in session#3: the same alias is the same secret in all flows. The messages are as the \
            client sent and got them; bodies are out of their content codings.
            """)

    @OptionGroup var control: ControlOptions

    @Flag(help: "Print a curl command that repeats the request.")
    var curl = false

    @Flag(help: "Print both messages as they are.")
    var http = false

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "With the secrets, where the journal holds them (journal.reveal).")
    var reveal = false

    @Argument(help: "Its id as usher flows lists it; its beginning or end, where these fit no other.")
    var id: String

    func validate() throws {
        try ControlOptions.mustName(id)
        guard [curl, http, json].count(where: { $0 }) < 2 else {
            throw ValidationError("--curl, --http and --json are different forms: name one")
        }
    }

    func run() throws {
        let flow = try control.client().done("GET", "/v1/flows/*" + (reveal ? "?reveal=true" : ""), naming: id)
        if json {
            Console.print(TerminalText.json(flow) + "\n")
        } else if http {
            Console.write(FlowText(flow).http(isShown: Output.isTerminal))
        } else if curl {
            do throws(FlowText.Fault) { Console.print(try FlowText(flow).curl()) } catch {
                throw CommandExit.failure(error.description)
            }
        } else {
            Console.print(FlowStory(flow, TextStyle(environment: ProcessEnvironment.all)).text)
        }
    }
}
