import ArgumentParser
import Operation

struct FlowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flow",
        abstract: "Show one flow: its messages before and after the interceptors, and its events.",
        discussion: """
            Aliases such as session#3 replace the secrets. The same alias is the same secret in all flows. The \
            messages are those that the client sent and received; bodies are decoded.
            """)

    @OptionGroup var control: ControlOptions

    @Flag(help: "Print a curl command that repeats the request.")
    var curl = false

    @Flag(help: "Print both messages in HTTP form.")
    var http = false

    @Flag(help: "Print a file of cases for usher test, with this flow as its case.")
    var test = false

    @Flag(help: "Print an interceptor whose condition fits the request.")
    var rule = false

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Include the secrets that the journal keeps (journal.reveal).")
    var reveal = false

    @Argument(help: "The id of the flow, or a unique beginning or end of it; usher flows lists the ids.")
    var id: String

    func validate() throws {
        try ControlOptions.mustName(id)
        guard [curl, http, test, rule, json].count(where: { $0 }) < 2 else {
            throw ValidationError("--curl, --http, --test, --rule and --json exclude each other; give one")
        }
    }

    func run() throws {
        let flow = try control.client().done("GET", "/v1/flows/*" + (reveal ? "?reveal=true" : ""), naming: id)
        if json {
            Console.print(TerminalText.json(flow) + "\n")
        } else if http {
            Console.write(FlowText(flow).http(isShown: Output.isTerminal))
        } else if curl || test || rule {
            let text = FlowText(flow)
            do throws(FlowText.Fault) {
                Console.print(curl ? try text.curl() : test ? try text.testCase() : try text.rule())
            } catch {
                throw CommandExit.failure(error.description)
            }
        } else {
            Console.print(FlowStory(flow, TextStyle(environment: ProcessEnvironment.all)).text)
        }
    }
}
