import ArgumentParser
import Formats
import Operation

struct SessionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Open, change and close test sessions of the daemon.",
        discussion: """
            A test session is a proxy URL with rules, counts, learned sessions and tokens of its own. Other clients of \
            the daemon see nothing of it.
            """,
        subcommands: [
            SessionStart.self, SessionList.self, SessionShow.self, SessionStop.self, SessionRule.self,
            SessionFault.self, SessionExpect.self, SessionVerify.self,
        ], defaultSubcommand: SessionList.self)
}

struct SessionStart: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Open a test session and print its proxy URL.",
        discussion: """
            An overlay is a YAML file with interceptors (before those of the configuration), after (behind them), \
            authorization: { answers }, and tokens. ${env.NAME} in it is read here, from the environment of this command.

            A program that cannot send credentials to its proxy can use --port, or the field Usher-Session.
            """)

    @OptionGroup var options: ControlReportOptions

    @Option(help: "A name for it in other commands.")
    var name: String?

    @Option(help: ArgumentHelp("End it after this time, as in 10m. At most 24h. Default: 1h.", valueName: "time"))
    var ttl: String?

    @Option(help: ArgumentHelp("The overlay; - is standard input.", valueName: "file"))
    var overlay: String?

    @Flag(help: "Open a port of its own.")
    var port = false

    @Flag(help: "Borrow a test user of the configuration's robots.")
    var robot = false

    @Option(help: ArgumentHelp("Record its exchanges; usher record stop NAME writes them.", valueName: "name"))
    var record: String?

    @Flag(name: .shortAndLong, help: "Print only the proxy URL.")
    var quiet = false

    func run() throws {
        var body: JSONValue = .object([])
        if let name { body["name"] = .string(name) }
        if let ttl { body["ttl"] = .string(ttl) }
        if port { body["port"] = true }
        if robot { body["robot"] = true }
        if let overlay {
            let text = try Self.text(overlay)
            body["overlay"] = .string(text)
            body["file"] = .string(overlay == "-" ? "standard input" : overlay)
            body["variables"] = OverlayVariables.json(of: text)
        }
        let client = try options.control.client()
        let session = try client.done("POST", "/v1/sessions", body: body)
        if let record, let id = session["id"]?.text {
            do { try RecordStart.start(record, "session=\(id)", client) } catch {
                _ = try? client.done("DELETE", "/v1/sessions/*", naming: id)
                throw error
            }
        }
        for warning in session["warnings"]?.items ?? [] { Console.error(StatusReport.line(warning)) }
        if quiet, !options.json { return Console.print((session["proxy"]?.text ?? "") + "\n") }
        options.show(session) { TestSessionReport($0).opened($1) }
    }
}

extension SessionStart {
    private static func text(_ path: String) throws -> String {
        let bytes: [UInt8]
        do throws(Input.Fault) { bytes = try Input.read(path, limit: 1 << 20) } catch {
            throw CommandExit.failure(error.description)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandExit.failure("\(path) is not UTF-8 text; save it as UTF-8")
        }
        return text
    }
}

struct SessionList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the open test sessions.")

    @OptionGroup var options: ControlReportOptions

    func run() throws { try options.report("GET", "/v1/sessions") { TestSessionReport($0).list($1) } }
}

struct SessionShow: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a test session and its rules.")

    @OptionGroup var options: ControlReportOptions

    @Argument(help: "The id or the name of the session.")
    var id: String

    func validate() throws { try ControlOptions.mustName(id) }

    func run() throws {
        try options.report("GET", "/v1/sessions/*", naming: id) { TestSessionReport($0).session($1) }
    }
}

struct SessionStop: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Close a test session.",
        discussion: "Its exchanges under way go on to their end. Later requests with its URL are refused.")

    @OptionGroup var options: ControlReportOptions

    @Argument(help: "The id or the name of the session.")
    var id: String

    func validate() throws { try ControlOptions.mustName(id) }

    func run() throws {
        try options.report("DELETE", "/v1/sessions/*", naming: id) { session, _ in
            "closed \(TerminalText.shown(session["name"]?.text ?? session["id"]?.text ?? ""))\n"
        }
    }
}
