import ArgumentParser
import Formats
import Operation

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reload the daemon's configuration, and show what changed.",
        discussion: """
            What is under way goes on by the configuration that it began with. Where the new one has a fault, nothing \
            changes: every fault is shown with its place, and the exit code is 1. SIGHUP does the same.
            """)

    @OptionGroup var control: ControlOptions

    @Flag(help: "Print JSON.")
    var json = false

    /// The polling interval and the total time, in milliseconds.
    private static let interval = 20
    private static let patience = 120_000

    func run() throws {
        // the daemon reads the file and reports its errors
        let client = try control.runningClient()
        var report = try client.done("POST", "/v1/reload")
        let number = report["reload"]?.integer ?? 0
        let wait = PatientWait(interval: Self.interval, limit: Self.patience)
        while report["state"]?.text == "running" {
            guard wait.next() else {
                throw CommandExit.failure("the daemon still reads its configuration; usher status will tell")
            }
            report = try client.done("GET", "/v1/reload/*", naming: "\(number)")
        }
        if json { Console.print(TerminalText.json(report) + "\n") }
        guard report["state"]?.text == "done" else {
            if !json { for fault in report["faults"]?.items ?? [] { Console.plain(StatusReport.line(fault)) } }
            throw CommandExit.failure(
                "the configuration was not reloaded; generation \(report["generation"]?.integer ?? 0) stays")
        }
        guard !json else { return }
        for warning in report["warnings"]?.items ?? [] { Console.plain(StatusReport.line(warning)) }
        Console.print(ReloadWords.done(report))
    }
}
