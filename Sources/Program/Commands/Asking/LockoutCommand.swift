import ArgumentParser
import Formats
import Operation

struct LockoutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lockout",
        abstract: "Show or clear how often AM refused the answers of a login.",
        subcommands: [Show.self, Clear.self], defaultSubcommand: Show.self)

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the counts.")

        @OptionGroup var options: ControlReportOptions

        func run() throws {
            try options.report("GET", "/v1/lockout") { LockoutReport($0, $1).text }
        }
    }

    struct Clear: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Clear the counts, so that logins begin again at once.",
            discussion: "AM keeps its own count, and may still lock the user out.")

        @OptionGroup var options: ControlReportOptions

        @Argument(help: "The id of one login; usher lockout lists it.")
        var id: String?

        func validate() throws { try ControlOptions.mustName(id) }

        func run() throws {
            try options.report("DELETE", id == nil ? "/v1/lockout" : "/v1/lockout/*", naming: id ?? "") { answer, _ in
                "\(answer["cleared"]?.integer ?? 0) cleared\n"
            }
        }
    }
}
