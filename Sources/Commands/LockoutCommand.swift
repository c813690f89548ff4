import ArgumentParser
import Formats
import Operation

struct LockoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lockout",
        abstract: "Show, or clear, how often AM refused answers that are given without a person.",
        subcommands: [Show.self, Clear.self], defaultSubcommand: Show.self)

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the counts.")

        @OptionGroup var control: ControlOptions

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            let answer = try control.client().done("GET", "/v1/lockout")
            Console.print(
                json
                    ? answer.serialized + "\n"
                    : LockoutReport(answer, TextStyle(environment: ProcessEnvironment.all)).text)
        }
    }

    struct Clear: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget the refusals, so that logins begin again at once.",
            discussion: "AM counts for itself, and may lock the user out all the same.")

        @OptionGroup var control: ControlOptions

        @Argument(help: "One login alone, as usher lockout lists it.")
        var id: String?

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            let client = try control.client()
            let answer =
                if let id { try client.done("DELETE", "/v1/lockout/*", naming: id) } else {
                    try client.done("DELETE", "/v1/lockout")
                }
            let count = answer["cleared"]?.integer ?? 0
            Console.print(json ? answer.serialized + "\n" : "\(count) cleared\n")
        }
    }
}
