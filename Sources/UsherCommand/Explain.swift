import ArgumentParser
import Configuration
import Formats
import HTTPCodec
import Usher

struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what usher would make of one request.",
        discussion: """
            The request is an HTTP message with a whole URL in its request line, or a curl command line. Nothing is sent. A \
            request for an https URL is taken to come in a tunnel whose TLS is opened; no password is asked for.
            """)

    @OptionGroup var file: ConfigurationFile

    @Option(help: ArgumentHelp("The request; - is standard input.", valueName: "file"))
    var request = "-"

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let snapshot = try file.loadOrExit()
        do {
            let explanation = try Explanation(try Input.read(request), snapshot: snapshot)
            Console.print(json ? explanation.json.serialized + "\n" : explanation.text)
        } catch let fault as Explanation.Fault {
            throw CommandExit.usage(fault.description)
        } catch let fault as Input.Fault {
            throw CommandExit.usage(fault.description)
        }
    }
}
