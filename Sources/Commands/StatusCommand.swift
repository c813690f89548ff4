import ArgumentParser
import Operation

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how the running daemon does: its configuration, its load, and what went wrong last.")

    @OptionGroup var options: ControlReportOptions

    func run() throws {
        try options.report("GET", "/v1/status") { StatusReport($0, $1).text }
    }
}
