import ArgumentParser
import Configuration
import Expectations
import Operation

/// The report of `usher run` about the traffic of its command.
struct RunReport: ParsableArguments {
    @Option(help: ArgumentHelp("Write the traffic to this file, as an HTTP Archive.", valueName: "file"))
    var har: String?

    @Option(help: ArgumentHelp("List the traffic in this file; - is standard output.", valueName: "file"))
    var flows: String?

    @Option(
        help: ArgumentHelp(
            "Judge the traffic by a file of expectations or a pack of rules, too. Repeatable.", valueName: "file|pack"))
    var expect: [String] = []

    @Option(help: ArgumentHelp("Write the judgement as JUnit XML.", valueName: "file"))
    var junit: String?

    @Flag(help: "Exit with 1 if the command succeeds but sends nothing through the proxy.")
    var requireTraffic = false

    @Flag(name: .shortAndLong, help: "Do not sum the traffic up.")
    var quiet = false

    func validate() throws {
        guard har?.isEmpty != true else { throw ValidationError("--har expects the name of a file") }
        guard flows?.isEmpty != true else { throw ValidationError("--flows expects the name of a file, or -") }
    }

    /// The output files, and what the traffic is judged by.
    struct Files {
        let har: OutputFile?
        let flows: OutputFile?
        let junit: OutputFile?
        let expectations: [Expectation]
        /// True if the journal contains flows of earlier runs.
        let hasEarlier: Bool

        /// The sequence number of their last flow.
        func earlier(_ client: ControlClient) throws -> Int {
            guard hasEarlier, har != nil || flows != nil || !expectations.isEmpty else { return 0 }
            return try FlowPages(try FlowTerms.given([])) { try client.done("GET", $0) }.last()
        }
    }

    /// Opens the files before the command starts, so that an unwritable file is reported at once.
    /// - Parameter keepsEarlier: true if the journal contains flows of earlier runs.
    func open(_ snapshot: Snapshot, keepsEarlier: Bool) throws -> Files {
        if har != nil || flows != nil, snapshot.journal == nil {
            throw CommandExit.usage("journal.memory is 0B, so --har and --flows have nothing to write; give it a size")
        }
        let expectations = try snapshot.expectations + ExpectationSource(snapshot).expectations(of: expect)
        if !expectations.isEmpty, snapshot.journal == nil {
            throw CommandExit.usage("journal.memory is 0B, so no traffic is stored to be judged; give it a size")
        }
        guard junit == nil || !expectations.isEmpty else {
            throw CommandExit.usage("--junit has nothing to write: add --expect, or expect to the configuration")
        }
        return try CommandContext.reporting { () throws(FileError) in
            Files(
                har: try har.map { path throws(FileError) in try OutputFile(path) },
                flows: try flows.map { path throws(FileError) in try OutputFile(path == "-" ? nil : path) },
                junit: try junit.map { path throws(FileError) in try OutputFile(path) },
                expectations: expectations, hasEarlier: keepsEarlier)
        }
    }

    /// Judges the traffic, and shows what is unmet.
    /// - Parameter earlier: the sequence number of the last flow of an earlier run.
    /// - Returns: the number of unmet expectations.
    func judge(_ client: ControlClient, _ files: Files, after earlier: Int) throws -> Int {
        guard !files.expectations.isEmpty else { return 0 }
        let terms = try FlowTerms.given(FlowJudgement.terms(files.expectations))
        let pages = FlowPages(terms, after: earlier) { try client.done("GET", $0) }
        let report = try FlowJudgement(files.expectations).report(pages)
        let text = ExpectationText(report.json)
        if let file = files.junit {
            try CommandContext.reporting { () throws(FileError) in try file.write(Array(text.junit.utf8)) }
        }
        if !report.isMet { Console.note(text.unmet) }
        return report.unmet
    }

    /// - Parameter earlier: the sequence number of the last flow of an earlier run.
    func write(_ client: ControlClient, to files: Files, after earlier: Int) throws {
        let pages = FlowPages(try FlowTerms.given([]), after: earlier) { try client.done("GET", $0) }
        if let file = files.har {
            _ = try pages.archive(
                { bytes in try CommandContext.reporting { () throws(FileError) in try file.write(bytes) } },
                progress: { _ in })
        }
        guard let file = files.flows else { return }
        let isShown = flows == "-"
        let list = FlowList(
            isShown ? TextStyle(environment: ProcessEnvironment.all) : .plain,
            width: isShown ? FlowList.terminalWidth : nil)
        let text = try list.heading + pages.newest(.max).flows.map(list.row).joined()
        try CommandContext.reporting { () throws(FileError) in try file.write(Array(text.utf8)) }
    }

    /// - Parameter unmet: the number of unmet expectations.
    /// - Returns: usher's exit status. The command's own failure comes first.
    func end(_ outcome: CommandRun.Outcome, of command: [String], unmet: Int) -> Int32 {
        let broken = ExpectationText.words(unmet: unmet)
        if !outcome.tally.isEmpty || broken != nil {
            if !quiet { Console.error(outcome.tally.words + (broken.map { "; \($0)" } ?? "")) }
            return outcome.status == 0 && unmet > 0 ? 1 : outcome.status
        }
        let nothing = CommandDiagnosis.nothing(cameOf: command)
        let isFault = requireTraffic && outcome.status == 0
        if isFault {
            Console.error(nothing.what + (nothing.remedy.map { " (\($0))" } ?? ""))
        } else if !quiet {
            Console.error(nothing.what)
        }
        return isFault ? 1 : outcome.status
    }
}
