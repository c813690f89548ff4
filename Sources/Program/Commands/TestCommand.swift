import ArgumentParser
import Configuration
import Formats
import Operation

struct TestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Test a configuration against a file of cases, without a network.",
        discussion: """
            A file of cases is YAML: config names the configuration, and cases lists the cases. Each case has a name, \
            a request, an origin (its response) and expect.

            A request is an HTTP message, a curl command, or the keys method, url, headers, body, json, form and file. \
            expect takes action, tree, realm, applied, not_applied, took, sent (or none) and received. An origin that \
            is a list gives its responses in that order, also to calls to AM. Time passes at once.

            The exit status is 0 if all cases pass, 1 if one fails, and 2 if a file is invalid.
            """)

    @OptionGroup var file: ConfigurationFile

    @Option(help: ArgumentHelp("Write the results as JUnit XML.", valueName: "file"))
    var junit: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "Files of cases, or folders of such files.")
    var cases: [String]

    func run() throws {
        ProcessEnvironment.hideMemory()
        let environment = ProcessEnvironment.all
        let files: [CaseFile]
        switch CaseReader.load(paths: cases, environment: environment) {
        case .success(let read): files = read
        case .failure(let faults):
            for fault in faults.diagnostics { Console.plain(fault.description) }
            throw ExitCode(2)
        }
        var report = CaseReport()
        let style = TextStyle(environment: environment)
        for file in files {
            let snapshot = try snapshot(for: file, environment)
            let scripts = try CommandScripts.start(snapshot)
            defer { scripts.end() }
            for testCase in file.cases {
                do throws(CaseRun.Fault) {
                    let run = try CaseRun(testCase, snapshot: snapshot, secrets: file.secrets)
                    report.add(run)
                    if !json { Console.print(CaseReport.text(run, style)) }
                } catch {
                    Console.plain(error.description)
                    throw ExitCode(2)
                }
            }
        }
        if let junit {
            try CommandContext.reporting { () throws(FileError) in
                try Output.write(Array(report.junit.utf8), to: junit)
            }
        }
        Console.print(json ? report.json.serialized + "\n" : report.summary + "\n")
        if report.failed > 0 { throw ExitCode(1) }
    }

    /// Loads the configuration under test, or exits with 1 and its errors.
    private func snapshot(for cases: CaseFile, _ environment: [String: String]) throws -> Snapshot {
        let paths = file.config.isEmpty ? cases.configuration : file.config
        guard !paths.isEmpty else {
            throw CommandExit.usage("\(cases.path) names no configuration: add the key config, or give --config")
        }
        let variables = environment.merging(cases.environment) { $1 }
        switch ConfigurationLoader.load(
            paths: paths, environment: variables, interceptors: RegisteredInterceptors.all)
        {
        case .success(let snapshot): return snapshot
        case .failure(let faults):
            for fault in faults.diagnostics { Console.plain(fault.description) }
            throw ExitCode(1)
        }
    }
}
