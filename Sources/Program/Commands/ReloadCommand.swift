import ArgumentParser
import Formats
import Operation

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reload the daemon's configuration, and show what changed.",
        discussion: """
            Exchanges under way keep their configuration. If the new one has faults, nothing changes: the command \
            shows each fault with its place, and exits with 1. SIGHUP does the same.
            """)

    @OptionGroup var options: ControlReportOptions

    /// The polling interval and the total time, in milliseconds.
    private static let interval = 20
    private static let patience = 120_000

    func run() throws {
        // the daemon reads the file and reports its errors
        let client = try options.control.runningClient()
        var report = try client.done("POST", "/v1/reload")
        let number = report["reload"]?.integer ?? 0
        let wait = PatientWait(interval: Self.interval, limit: Self.patience)
        while report["state"]?.text == "running" {
            guard wait.next() else {
                throw CommandExit.failure("the daemon is still reading its configuration; see usher status")
            }
            report = try client.done("GET", "/v1/reload/*", naming: "\(number)")
        }
        if options.json { Console.print(TerminalText.json(report) + "\n") }
        guard report["state"]?.text == "done" else {
            if !options.json { for fault in report["faults"]?.items ?? [] { Console.plain(StatusReport.line(fault)) } }
            throw CommandExit.failure(
                "the configuration was not reloaded; generation \(report["generation"]?.integer ?? 0) stays in use")
        }
        guard !options.json else { return }
        for warning in report["warnings"]?.items ?? [] { Console.plain(StatusReport.line(warning)) }
        Console.print(ReloadWords.done(report))
    }
}
