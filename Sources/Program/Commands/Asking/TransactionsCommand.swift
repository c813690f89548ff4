import ArgumentParser
import Operation

struct TransactionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transactions",
        abstract: "List the step-ups that wait for a person.",
        discussion: "usher answer ID answers one; usher deny ID refuses it.")

    @OptionGroup var options: ControlReportOptions

    func run() throws {
        try options.report("GET", "/v1/transactions") { TransactionReport($0, $1).text }
    }
}
