import ArgumentParser
import Operation

struct DenyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny",
        abstract:
            "Refuse a step-up that waits for a person. The app gets the original response.")

    @OptionGroup var control: ControlOptions

    @Argument(help: "The id of the step-up; usher transactions lists it.")
    var id: String

    func validate() throws { try ControlOptions.mustName(id) }

    func run() throws {
        _ = try control.client().done("POST", "/v1/transactions/*/deny", naming: id)
        Console.print("\(id) is denied\n")
    }
}
