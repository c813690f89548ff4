import ArgumentParser
import Configuration
import Formats
import Operation

struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what Usher does to one request and its response, without a network.",
        discussion: """
            The request is an HTTP message with an absolute URL in its request line, the fields of an HTTP/2 request \
            (:method: GET), or a curl command line. Nothing is sent. A request for an https URL counts as one in an \
            opened tunnel. No password is required.

            The response is an HTTP message, as curl -i prints it. Every attempt gets it; calls to AM get no response. \
            Interceptors that do not apply follow, closest match first. The output of usher flow ID --curl and --http \
            is valid input; with --http, its response is used. Terminals get colours, unless NO_COLOR is set.
            """)

    @OptionGroup var control: ControlOptions

    @Argument(help: ArgumentHelp("The request, as a curl command line in quotes.", valueName: "request"))
    var given: String?

    @Option(help: ArgumentHelp("The file with the request; - is standard input (default: -).", valueName: "file"))
    var request: String?

    @Option(help: ArgumentHelp("The file with the origin's response; - is standard input.", valueName: "file"))
    var response: String?

    @Option(
        help: ArgumentHelp(
            "Explain a flow that the daemon recorded: its Action, the effect of each interceptor, and its messages.",
            valueName: "id"))
    var flow: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let flow {
            try ControlOptions.mustName(flow)
            guard given == nil, request == nil, response == nil else {
                throw ValidationError("--flow explains a recorded flow; omit the request and the response")
            }
            return
        }
        if given != nil, request != nil {
            throw ValidationError("the request is on the command line and in \(request ?? "a file"): give one")
        }
        if given == nil, request ?? "-" == "-", response == "-" {
            throw ValidationError("standard input cannot be both the request and the response: name a file for one")
        }
    }

    func run() throws {
        let style = TextStyle(environment: ProcessEnvironment.all)
        if let flow {
            let told = FlowExplanation(try control.client().done("GET", "/v1/flows/*", naming: flow))
            return Console.print(json ? TerminalText.json(told.json) + "\n" : told.text(style))
        }
        let snapshot = try control.file.loadOrExit(missing: .noted)
        let scripts = try CommandScripts.start(snapshot)
        defer { scripts.end() }
        do {
            let answer = try response.map { path throws(Input.Fault) in try Input.read(path) }
            let explanation = try Explanation(try message(), response: answer, snapshot: snapshot)
            Console.print(json ? explanation.json.serialized + "\n" : explanation.text(style))
        } catch let fault as Explanation.Fault {
            throw CommandExit.usage(fault.description)
        } catch let fault as Input.Fault {
            throw CommandExit.usage(fault.description)
        }
    }

    private func message() throws(Input.Fault) -> [UInt8] {
        if let given { return Array(given.utf8) }
        let path = request ?? "-"
        if path == "-", Input.isTerminal {
            Console.error(
                "paste the request (an HTTP message or a curl command), and end it with Ctrl-D on a new line")
        }
        return try Input.read(path)
    }
}
