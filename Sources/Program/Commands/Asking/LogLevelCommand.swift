import ArgumentParser
import Formats
import Operation

struct LogLevelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level",
        abstract: "Show the log level, or change it until the next reload.")

    @OptionGroup var options: ControlReportOptions

    @Argument(help: "error, warning, info or debug.")
    var level: String?

    func run() throws {
        let client = try options.control.client()
        let answer: JSONValue
        if let level {
            let body: JSONValue = ["level": .string(level)]
            switch try client.reply("PUT", "/v1/log/level", body: body) {
            case .done(let value): answer = value
            case .refused(422, let words): throw CommandExit.usage(TerminalText.shown(words))
            case .refused(_, let words): throw CommandExit.failure(TerminalText.shown(words))
            }
        } else {
            answer = try client.done("GET", "/v1/log/level")
        }
        options.show(answer) { answer, _ in
            let now = answer["level"]?.text ?? ""
            let configured = answer["configured"]?.text ?? ""
            return now == configured ? "\(now)\n" : "\(now) (the configuration says \(configured))\n"
        }
    }
}
