import ArgumentParser
import Formats
import Operation

struct TransactionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transactions",
        abstract: "List the step-ups that wait for a person.",
        discussion: "Each is answered with usher answer ID, or refused with usher deny ID.")

    @OptionGroup var control: ControlOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let answer = try control.client().done("GET", "/v1/transactions")
        Console.print(
            json
                ? answer.serialized + "\n"
                : TransactionReport(answer, TextStyle(environment: ProcessEnvironment.all)).text)
    }
}
