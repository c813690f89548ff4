import ArgumentParser
import Operation

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the daemon's configuration, load and last errors.")

    @OptionGroup var options: ControlReportOptions

    func run() throws {
        try options.report("GET", "/v1/status") { StatusReport($0, $1).text }
    }
}
