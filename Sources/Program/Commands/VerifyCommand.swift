import ArgumentParser
import Configuration
import Expectations
import Formats
import Operation

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Judge recorded traffic by expectations and packs of rules.",
        discussion: """
            An expectation is one argument: 'action=LOGOUT count=1', 'host=api.* status=5xx count=never'. The keys are \
            those of when, with header.NAME, query.NAME, cookie.NAME, form.NAME, json./POINTER and \
            response_json./POINTER; KEY!=VALUE excludes a value. Further keys: count (1, >=2, <=3, 2-4, never), \
            each.KEY, before and after (a name or an Action), within, per=journey, name and use (a pack).

            The traffic is what the daemon recorded, or an HTTP Archive. Without an expectation, expect of the \
            configuration counts. The exit status is 0 if all are met, 1 if one is not, and 2 for a wrong use.
            """)

    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp("Only the traffic of this session.", valueName: "id"))
    var session: String?

    @Option(help: ArgumentHelp("Judge an HTTP Archive instead of the daemon's flows; - reads it.", valueName: "file"))
    var har: String?

    @Option(help: ArgumentHelp("Only flows that match, as for usher flows. Repeatable.", valueName: "filter"))
    var flows: [String] = []

    @Option(
        help: ArgumentHelp("A pack of rules, or a file of expectations. Repeatable.", valueName: "pack|file"))
    var pack: [String] = []

    @Option(help: ArgumentHelp("Write the report as JUnit XML.", valueName: "file"))
    var junit: String?

    @Option(help: ArgumentHelp("Wait this long for messages that have not come yet.", valueName: "duration"))
    var wait: String?

    @Flag(help: "List the packs with their rules and sources, and exit.")
    var list = false

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: ArgumentHelp("Such as 'action=LOGOUT count=1'.", valueName: "expectation"))
    var expectations: [String] = []

    func validate() throws {
        try ControlOptions.mustName(session)
        guard har == nil || session == nil && flows.isEmpty && wait == nil else {
            throw ValidationError("--har has no use for --session, --flows and --wait")
        }
        if let wait, FlowWait(1, timeout: wait) == nil { throw ValidationError("--wait expects \(FlowWait.form)") }
    }

    func run() throws {
        let style = TextStyle(environment: ProcessEnvironment.all)
        if list { return Console.print(ExpectationText.packs(style)) }
        let snapshot = try configuration()
        let source = ExpectationSource(snapshot)
        var wanted = try source.expectations(of: pack) + source.lines(expectations)
        if wanted.isEmpty || !control.file.config.isEmpty { wanted = (snapshot?.expectations ?? []) + wanted }
        guard !wanted.isEmpty else {
            throw CommandExit.usage(
                "there is nothing to verify: give an expectation such as 'action=LOGOUT count=1', a --pack, or a --config "
                    + "with expect")
        }
        let report = try har.map { try archive($0, wanted, snapshot) } ?? recorded(wanted)
        try ExpectationText(report.json).show(json: json ? report.json : nil, junit: junit, style)
    }

    /// The named configuration; else the usual one, if there is one without errors.
    private func configuration() throws -> Snapshot? {
        if !control.file.config.isEmpty { return try control.file.loadOrExit(warns: false, missing: .noted) }
        if case .success(let usual) = control.file.load(missing: .noted) { return usual }
        return nil
    }

    private func archive(_ path: String, _ wanted: [Expectation], _ snapshot: Snapshot?) throws -> ExpectationReport {
        let bytes: [UInt8]
        do throws(Input.Fault) { bytes = try Input.read(path, limit: 256 << 20) } catch {
            throw CommandExit.usage(error.description)
        }
        do throws(FirstConfiguration.Fault) {
            return FlowJudgement(wanted).report(try HARFlows(bytes, snapshot))
        } catch {
            throw CommandExit.usage("\(path): \(error.description)")
        }
    }

    private func recorded(_ wanted: [Expectation]) throws -> ExpectationReport {
        let client = try control.client()
        let terms = try FlowTerms.given(
            flows + (session.map { ["session=\(try client.sessionID($0))"] } ?? []) + FlowJudgement.terms(wanted))
        let pages = FlowPages(terms) { try client.done("GET", $0) }
        let judgement = FlowJudgement(wanted)
        let wait = wait.flatMap { FlowWait(1, timeout: $0) }
        let start = ContinuousClock.now
        return try judgement.report(pages) { last in
            guard let rest = wait?.rest(since: start) else { return false }
            let reply = try client.reply("GET", rest.path(terms, after: last), within: rest.limit)
            // a refusal says that nothing came
            return if case .done = reply { true } else { false }
        }
    }
}

extension ExpectationText {
    /// Prints the report, writes it as JUnit XML if wanted, and exits with 1 if an expectation is not met.
    /// - Parameter json: the report to print instead of text.
    func show(json: JSONValue?, junit: String?, _ style: TextStyle) throws {
        if let junit {
            try CommandContext.reporting { () throws(FileError) in
                try Output.write(Array(self.junit.utf8), to: junit == "-" ? nil : junit)
            }
        }
        Console.print(json.map { TerminalText.json($0) + "\n" } ?? text(style))
        if !isMet { throw ExitCode(1) }
    }
}

extension ControlClient {
    /// The id of the open test session with that id or name. One that has ended keeps its flows under its id.
    func sessionID(_ name: String) throws -> String {
        if name.hasPrefix("s-") { return name }
        switch try reply("GET", "/v1/sessions/*", naming: name) {
        case .done(let session): return session["id"]?.text ?? name
        // nothing was judged
        case .refused(_, let words): throw CommandExit.usage(TerminalText.shown(words))
        }
    }
}
