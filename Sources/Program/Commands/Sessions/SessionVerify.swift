import ArgumentParser
import Configuration
import Formats
import Operation

struct SessionExpect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "expect", abstract: "Add expectations to a test session.",
        discussion: """
            They judge the traffic from now on. Each is one argument, as for usher verify: 'action=LOGOUT count=1', \
            'use=am-client'.
            """)

    @OptionGroup var options: ControlReportOptions

    @Argument(help: "The id or the name of the session.")
    var id: String

    @Argument(help: "Such as 'action=LOGOUT count=1'.")
    var expectations: [String]

    func validate() throws {
        try ControlOptions.mustName(id)
        if expectations.isEmpty { throw ValidationError("give an expectation, as in 'action=LOGOUT count=1'") }
    }

    func run() throws {
        // in one request, so that all are added or none
        let body: JSONValue
        do throws(ExpectationWords.Fault) { body = ["expect": try ExpectationWords.json(expectations)] } catch {
            throw CommandExit.usage(error.description)
        }
        let answer = try options.control.client().done(
            "POST", "/v1/sessions/*/expectations", naming: id, body: body)
        options.show(answer) { answer, _ in
            (answer["added"]?.items ?? []).map { "added \(TerminalText.shown($0.text ?? ""))\n" }.joined()
        }
    }
}

struct SessionVerify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Judge the traffic of a test session by its expectations.",
        discussion: """
            Every exchange that has ended before is judged. The exit status is 0 if all expectations are met, and 1 if one \
            is not.
            """)

    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp("Write the report as JUnit XML.", valueName: "file"))
    var junit: String?

    @Option(help: ArgumentHelp("Wait this long for messages that have not come yet.", valueName: "duration"))
    var wait: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "The id or the name of the session.")
    var id: String

    func validate() throws {
        try ControlOptions.mustName(id)
        if let wait, FlowWait(1, timeout: wait) == nil { throw ValidationError("--wait expects \(FlowWait.form)") }
    }

    func run() throws {
        let wait = wait.flatMap { FlowWait(1, timeout: $0)?.milliseconds } ?? 0
        let report = try control.client().done(
            "GET", "/v1/sessions/*/report?wait=\(wait)", naming: id, within: wait + 10_000)
        guard report["expectations"]?.items?.isEmpty == false else {
            throw CommandExit.usage(
                "the session has no expectation: add some, as in usher session expect \(id) 'action=LOGOUT count=1'")
        }
        let style = TextStyle(environment: ProcessEnvironment.all)
        try ExpectationText(report).show(json: json ? report : nil, junit: junit, style)
    }
}
