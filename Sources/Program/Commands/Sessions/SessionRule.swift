import ArgumentParser
import Configuration
import Formats
import Operation

/// Options of a rule that a session gets.
struct RuleOptions: ParsableArguments {
    @Option(help: "A name for it. Default: rule-1 and so on.")
    var name: String?

    @Option(help: "Apply it to this many exchanges.")
    var times: Int?

    @Option(help: "Apply it to this percentage of the exchanges, at random.")
    var percent: Int?

    @Option(help: "Make the percentage select the same exchanges each time.")
    var seed: Int?

    @Option(help: "Apply it to every nth exchange.")
    var every: Int?

    func complete(_ rule: JSONValue) -> JSONValue {
        var rule = rule
        if let name { rule["name"] = .string(name) }
        for (key, value) in [("first", times), ("percent", percent), ("seed", seed), ("every", every)] {
            if let value { rule[key] = .integer(value) }
        }
        return rule
    }
}

struct SessionRule: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rule", abstract: "Add, list or remove interceptors of a test session.",
        usage: """
            usher session rule <id> add '<condition>' '<edit>' [--times <times>] [--percent <percent>]
            usher session rule <id> list
            usher session rule <id> remove <name>
            """,
        discussion: """
            A condition is a list of terms key=value with the keys of when; key!=value excludes. An edit is its name and \
            its value:

              usher session rule checkout add 'action=AUTHENTICATE by=app' 'respond 429' --times 2
              usher session rule checkout add 'host=api.example.com path=/pay' 'delay 800ms'

            The newest rule runs first. Counts of the others go on.
            """)

    @OptionGroup var options: ControlReportOptions
    @OptionGroup var rule: RuleOptions

    @Argument(help: "The id or the name of the session.")
    var id: String

    enum Verb: String, ExpressibleByArgument, CaseIterable { case add, list, remove }

    @Argument(help: "add, list or remove.")
    var verb = Verb.list

    @Argument(help: "add: the condition and the edit. remove: the name.")
    var words: [String] = []

    func validate() throws {
        try ControlOptions.mustName(id)
        let wanted = [Verb.add: 2, .list: 0, .remove: 1][verb] ?? 0
        guard words.count == wanted else {
            throw ValidationError(
                [
                    .add: "add takes a condition and an edit, each in quotes", .list: "list takes nothing more",
                    .remove: "remove takes the name of one rule",
                ][verb] ?? "")
        }
    }

    func run() throws {
        switch verb {
        case .list: try options.report("GET", "/v1/sessions/*/rules", naming: id) { TestSessionReport($0).rules($1) }
        case .remove: try options.removeRule(words[0], from: id)
        case .add: try options.add(rule.complete(try RuleWords.read(words[0], words[1])), to: id)
        }
    }
}

extension RuleWords {
    /// The rule of a condition and an edit, or wrong use with the fault.
    static func read(_ condition: String, _ edit: String) throws -> JSONValue {
        do throws(Fault) { return try RuleWords(condition: condition, edit: edit).rule } catch {
            throw CommandExit.usage(error.description)
        }
    }
}

extension ControlReportOptions {
    func add(_ rule: JSONValue, to id: String) throws {
        let added = try control.client().done("POST", "/v1/sessions/*/rules", naming: id, body: rule)
        show(added) { added, _ in "added \(TerminalText.shown(added["name"]?.text ?? ""))\n" }
    }

    func removeRule(_ name: String, from id: String) throws {
        try report("DELETE", "/v1/sessions/\(PercentCoding.encode(id))/rules/*", naming: name) { _, _ in
            "removed \(TerminalText.shown(name))\n"
        }
    }
}
