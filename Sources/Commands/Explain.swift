import ArgumentParser
import Configuration
import Formats
import HTTPCodec
import Operation

struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what usher would make of one request, and of its answer.",
        discussion: """
            The request is an HTTP message with a whole URL in its request line, the fields of one in HTTP/2 (:method: GET), or \
            a curl command line. Nothing is sent. A \
            request for an https URL is taken to come in a tunnel whose TLS is opened; no password is asked for. With a \
            response, an HTTP message as curl -i prints it, every attempt is answered so, and calls to AM are not answered. \
            Interceptors that do not apply are listed by how near they came. Colours are for terminals, unless NO_COLOR is set.
            """)

    @OptionGroup var file: ConfigurationFile

    @Argument(help: ArgumentHelp("The request itself: a curl command line in quotes.", valueName: "request"))
    var given: String?

    @Option(help: ArgumentHelp("A file with the request; - is standard input (default: -).", valueName: "file"))
    var request: String?

    @Option(help: ArgumentHelp("What the origin answers; - is standard input.", valueName: "file"))
    var response: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if given != nil, request != nil {
            throw ValidationError("the request stands on the command line and in \(request ?? "a file"): leave one out")
        }
        if given == nil, request ?? "-" == "-", response == "-" {
            throw ValidationError("standard input is the request or the response: name a file for one of them")
        }
    }

    func run() throws {
        let snapshot = try file.loadOrExit()
        do {
            let answer = try response.map { path throws(Input.Fault) in try Input.read(path) }
            let explanation = try Explanation(try message(), response: answer, snapshot: snapshot)
            let style = TextStyle(environment: ProcessEnvironment.all)
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
