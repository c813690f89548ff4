import ArgumentParser
import Configuration
import Formats
import HTTPCodec
import Operation

struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what Usher does to one request and its response, without a network.",
        discussion: """
            The request is an HTTP message with a whole URL in its request line, the fields of one in HTTP/2 (:method: GET), or \
            a curl command line. Nothing is sent. A \
            request for an https URL is taken to come in a tunnel whose TLS is opened; no password is asked for. With a \
            response, an HTTP message as curl -i prints it, every attempt is answered so, and calls to AM are not answered. \
            Interceptors that do not apply are listed by how near they came. What usher flow ID --curl and --http print may \
            be pasted as it is; with --http the answer counts as the response. Colours are for terminals, unless NO_COLOR is set.
            """)

    @OptionGroup var control: ControlOptions

    @Argument(help: ArgumentHelp("The request itself: a curl command line in quotes.", valueName: "request"))
    var given: String?

    @Option(help: ArgumentHelp("A file with the request; - is standard input (default: -).", valueName: "file"))
    var request: String?

    @Option(help: ArgumentHelp("What the origin answers; - is standard input.", valueName: "file"))
    var response: String?

    @Option(
        help: ArgumentHelp(
            "Tell what the running daemon recorded of a flow: the Action, what each interceptor did, and the messages.",
            valueName: "id"))
    var flow: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let flow {
            try ControlOptions.mustName(flow)
            guard given == nil, request == nil, response == nil else {
                throw ValidationError("--flow tells what was recorded: leave the request and the response out")
            }
            return
        }
        if given != nil, request != nil {
            throw ValidationError("the request stands on the command line and in \(request ?? "a file"): leave one out")
        }
        if given == nil, request ?? "-" == "-", response == "-" {
            throw ValidationError("standard input is the request or the response: name a file for one of them")
        }
    }

    func run() throws {
        let style = TextStyle(environment: ProcessEnvironment.all)
        if let flow {
            let told = FlowExplanation(try control.client().done("GET", "/v1/flows/*", naming: flow))
            return Console.print(json ? TerminalText.json(told.json) + "\n" : told.text(style))
        }
        let snapshot = try control.file.loadOrExit(missing: .noted)
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
                "paste the request, an HTTP message or a curl command, and end it with Ctrl-D on a line of its own")
        }
        return try Input.read(path)
    }
}
