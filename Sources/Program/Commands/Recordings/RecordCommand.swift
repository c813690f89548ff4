import ArgumentParser
import Configuration
import Formats
import Operation
import Recordings
import TLSEngine

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record exchanges as a folder of readable files, for usher replay-server and tests.",
        discussion: """
            A recording is the exchanges from start to stop that match a filter, as in usher flows. Its folder has \
            recording.yaml and a file for each exchange. Aliases such as session#3 replace the secrets, so that it can \
            be committed.
            """,
        subcommands: [
            RecordStart.self, RecordStop.self, RecordList.self, RecordShow.self, RecordEdit.self, RecordTest.self,
        ], defaultSubcommand: RecordList.self)
}

struct RecordStart: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "start", abstract: "Start a recording.")

    @OptionGroup var control: ControlOptions

    @Argument(help: "The name of the recording.")
    var name: String

    @Argument(help: ArgumentHelp("Which flows, such as host=am.example.com.", valueName: "filter"))
    var filter: [String] = []

    func validate() throws { try ControlOptions.mustName(name) }

    func run() throws {
        _ = try FlowTerms.given(filter)
        // a value may have spaces
        let words = filter.map { $0.contains(" ") ? "\"\($0)\"" : $0 }.joined(separator: " ")
        try Self.start(name, words, try control.client())
        Console.note("recording \(TerminalText.shown(name)); usher record stop \(TerminalText.shown(name)) writes it\n")
    }

    /// - Parameter filter: terms, separated by spaces.
    static func start(_ name: String, _ filter: String, _ client: ControlClient) throws {
        let body: JSONValue = ["name": .string(name), "filter": .string(filter)]
        _ = try client.done("POST", "/v1/recordings", body: body)
    }
}

struct RecordStop: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "End a recording and write its folder.",
        discussion: "Exchanges under way are not part of it.")

    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp("The folder to write (default: the name).", valueName: "folder"))
    var output: String?

    @Argument(help: "The name of the recording.")
    var name: String

    func validate() throws { try ControlOptions.mustName(name) }

    func run() throws {
        let folder = output ?? name
        guard !RecordingFolder.exists(folder) else {
            throw CommandExit.failure("\(folder) exists; name another folder with --output, or move it away")
        }
        let recording = try control.client().done("DELETE", "/v1/recordings/*", naming: name)
        for remark in recording["remarks"]?.items ?? [] { Console.error(TerminalText.shown(remark.text ?? "")) }
        let count = recording["exchanges"]?.integer ?? 0
        guard count > 0 else {
            throw CommandExit.failure(
                "no exchange matches the filter; nothing is written (usher flows FILTER shows what a filter matches)")
        }
        try CommandContext.reporting { () throws(FileError) in try RecordingFolder.write(recording, to: folder) }
        Console.print("\(count) \(count == 1 ? "exchange is" : "exchanges are") in \(folder)\n")
    }
}

struct RecordList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the recordings under way.")

    @OptionGroup var options: ControlReportOptions

    func run() throws {
        try options.report("GET", "/v1/recordings") { answer, _ in
            let all = answer["recordings"]?.items ?? []
            guard !all.isEmpty else { return "no recording is under way\n" }
            return all.map { recording in
                "\(["name", "began", "filter"].map { TerminalText.shown(recording[$0]?.text ?? "") }.joined(separator: "  "))\n"
            }.joined()
        }
    }
}

struct RecordShow: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show the exchanges of a recording.")

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "The folder of the recording.")
    var folder: String

    func run() throws {
        let text = RecordingText(try Recording.read(folder))
        Console.print(
            json
                ? TerminalText.json(text.json) + "\n" : text.list(TextStyle(environment: ProcessEnvironment.all)))
    }
}

struct RecordEdit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Open a file of a recording in an editor, and check the recording afterwards.",
        discussion: "The editor is VISUAL or EDITOR, else vi.")

    @Argument(help: "The folder of the recording.")
    var folder: String

    @Argument(help: "The exchange, such as 003-authenticate (default: the index, recording.yaml).")
    var exchange = "recording"

    func run() throws {
        let path = "\(folder)/\(exchange).yaml"
        guard RecordingFolder.exists(path) else {
            throw CommandExit.failure("there is no \(path); usher record show \(folder) lists the exchanges")
        }
        do throws(CommandRun.Fault) { try Editor.open(path) } catch {
            throw CommandExit.failure(error.description)
        }
        _ = try Recording.read(folder)
        Console.note("the recording is valid\n")
    }
}

struct RecordTest: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Play a recording against itself, without a network.",
        discussion: """
            Each recorded request is sent to a replay in strict mode, in order. The exit status is 1 if one does not \
            get its own response.
            """)

    @Argument(help: "The folder of the recording.")
    var folder: String

    func run() throws {
        let results = SelfPlay.run(try Recording.read(folder), key: try Recording.key())
        Console.print(RecordingText.results(results, TextStyle(environment: ProcessEnvironment.all)))
        let failed = results.count { $0.problem != nil }
        Console.print("\(results.count - failed) passed, \(failed) failed\n")
        if failed > 0 { throw ExitCode(1) }
    }
}

extension Recording {
    /// Reads the folder of a recording, or exits with 2 and all of its errors.
    static func read(_ folder: String) throws -> Recording {
        switch RecordingReader.load(folder) {
        case .success(let recording): return recording
        case .failure(let faults):
            for fault in faults.diagnostics { Console.plain(fault.description) }
            throw ExitCode(2)
        }
    }

    /// A new key for the tokens of a replay.
    static func key() throws -> TestKey {
        do throws(MaterialFault) { return try TestKey() } catch {
            throw CommandExit.failure("the test key \(error.words)")
        }
    }
}
