import ArgumentParser
import Formats
import Operation

struct UICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ui",
        abstract: "Open the page of the running daemon in a browser: flows, journeys, step-ups, sessions, rates.",
        discussion: """
            The daemon serves the page on 127.0.0.1 until it ends. The link works once, for 2 minutes, so it needs no \
            password. Ask for another with the same command. Only users of the control socket can ask for one.
            """)

    @OptionGroup var options: ControlReportOptions

    @Option(help: ArgumentHelp("The port of the page (default: any free one).", valueName: "port"))
    var port: UInt16?

    @Flag(help: "Print the link only.")
    var noBrowser = false

    func validate() throws {
        if port == 0 { throw ValidationError("port 0 means any; omit --port for that") }
    }

    func run() throws {
        let wish: JSONValue = port.map { ["port": .integer(Int($0))] } ?? .object([])
        let link = try options.control.client().done("POST", "/v1/page/links", body: wish)
        let variables = ProcessEnvironment.all
        options.show(link) { link, _ in PageLinkText(link, variables).text }
        guard !noBrowser, !options.json, let url = link["url"]?.text else { return }
        if let fault = Browser.open(url, variables) { Console.error(fault) }
    }
}
