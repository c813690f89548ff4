import ArgumentParser
import Configuration
import Formats
import Operation

struct TestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Test a configuration against a file of cases, without a network.",
        discussion: """
            A file of cases is YAML: config names the configuration, and each of cases has a name, a request (an HTTP message, \
            a curl command, or the keys method, url, headers, body, json, form, file), what its origin answers, and what to \
            expect: action, tree, realm, applied, not_applied, took, sent (or none) and received. An origin that is a list answers \
            in that order, calls to AM included; time passes at once. Exit 0 where all pass, 1 where one fails, 2 for a file \
            that is no good.
            """)

    @OptionGroup var file: ConfigurationFile

    @Option(help: ArgumentHelp("Write the outcome as JUnit's XML.", valueName: "file"))
    var junit: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "Files of cases, and folders of them.")
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
            throw CommandExit.usage("\(cases.path) names no configuration: write config: into it, or give --config")
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
