import ArgumentParser
import Formats
import Operation

struct AnswerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer",
        abstract: "Answer a step-up that waits for a person.",
        discussion: """
            Without a value, the command asks for every open callback: at the terminal, or from standard input, one \
            line for each. The terminal does not show secrets while you type them. Other users of this machine may see \
            the command line. A tree that waits for a link takes that link.
            """)

    @OptionGroup var control: ControlOptions

    @Option(
        help: ArgumentHelp(
            "The callback to answer: its type, or its place in the page.", valueName: "type-or-number"))
    var callback: String?

    @Argument(help: "The id of the step-up; usher transactions lists it.")
    var id: String

    @Argument(help: "The answer. A callback with several parts takes several.")
    var value: [String] = []

    func validate() throws { try ControlOptions.mustName(id) }

    func run() throws {
        let client = try control.client()
        guard value.isEmpty else {
            return report(try client.done("POST", Self.path, naming: id, body: body(value)))
        }
        // the daemon reports an unknown id
        let transaction = try client.done("GET", "/v1/transactions/*", naming: id)
        for line in TransactionReport.says(transaction) { Console.note("\(line)\n") }
        if transaction["shortened"] == .bool(true) { Console.note("(the page is longer than what is shown)\n") }
        if transaction["kind"]?.text == "suspended" {
            let link = try Self.line("the link: ", isSecret: false)
            return report(try client.done("POST", Self.path, naming: id, body: ["link": .string(link)]))
        }
        let open = (transaction["callbacks"]?.items ?? []).filter(isMeant)
        guard !open.isEmpty else {
            throw CommandExit.failure("\(id) does not ask for \(TerminalText.shown(callback ?? "anything"))")
        }
        try ask(open, client)
    }

    private static let path = "/v1/transactions/*/answer"

    private func isMeant(_ callback: JSONValue) -> Bool {
        guard let wanted = self.callback else { return true }
        return callback["index"]?.integer == Int(wanted) && Int(wanted) != nil
            || callback["type"]?.text?.lowercased() == wanted.lowercased()
    }

    private func body(_ values: [String]) -> JSONValue {
        var members: JSONValue = [:]
        if let callback { members["callback"] = .string(callback) }
        members["value"] = values.count == 1 ? .string(values[0]) : .strings(values)
        return members
    }

    // MARK: prompts

    /// Prompts until the daemon accepts the answers; without a terminal, once.
    private func ask(_ open: [JSONValue], _ client: ControlClient) throws {
        while true {
            var answers: [JSONValue] = []
            for callback in open { answers.append(try Self.answer(to: callback)) }
            let body: JSONValue = ["answers": .array(answers)]
            switch try client.reply("POST", Self.path, naming: id, body: body) {
            case .done(let value): return report(value)
            case .refused(422, let words) where Input.isTerminal:
                Console.error("\(TerminalText.shown(words)); try again")
            case .refused(_, let words): throw CommandExit.failure(TerminalText.shown(words))
            }
        }
    }

    private static func answer(to callback: JSONValue) throws -> JSONValue {
        let words = TransactionReport.shown(callback)
        for policy in callback["policies"]?.items ?? [] {
            Console.note("  violated policy: \(TerminalText.shown(policy.text ?? ""))\n")
        }
        for choice in callback["choices"]?.items ?? [] {
            Console.note("  \(choice["number"]?.integer ?? 0)  \(TerminalText.shown(choice["label"]?.text ?? ""))\n")
        }
        let isSecret = callback["secret"] == .bool(true)
        let parts = (callback["parts"]?.items ?? []).map { TerminalText.shown($0.text ?? "") }
        var texts: [JSONValue] = []
        for part in parts.isEmpty ? [""] : parts {
            texts.append(.string(try line(part.isEmpty ? "\(words): " : "\(words), \(part): ", isSecret: isSecret)))
        }
        return ["callback": callback["index"] ?? .integer(0), "value": texts.count == 1 ? texts[0] : .array(texts)]
    }

    private static func line(_ question: String, isSecret: Bool) throws -> String {
        do throws(TerminalInput.Ending) {
            return try TerminalInput.line(question, isSecret: isSecret)
        } catch {
            switch error {
            case .end: throw CommandExit.usage("no answer was given; the step-up stays open")
            case .interrupted: throw ExitCode(130)
            case .tooLong: throw CommandExit.failure("an answer has at most 16 KiB; the step-up stays open")
            }
        }
    }

    private func report(_ answer: JSONValue) {
        let open = (answer["callbacks"]?.items ?? []).map(TransactionReport.shown)
        Console.print(
            open.isEmpty ? "\(id) is answered\n" : "not answered yet: \(open.joined(separator: ", "))\n")
    }
}
