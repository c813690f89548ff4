import ArgumentParser
import Formats
import Operation

struct JourneyTree: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tree",
        abstract: "Write a login as a tree for usher sandbox --journeys.",
        discussion: """
            The tree asks what AM asked, in that order. It checks names and passwords of the sandbox's users, codes, and \
            the choices that were made. The journal has no secrets, so add the users.
            """)

    @OptionGroup var control: ControlOptions

    @Argument(help: "The id of the journey or of one of its calls, or a unique beginning or end.")
    var id: String

    func validate() throws { try ControlOptions.mustName(id) }

    func run() throws {
        guard let document = JourneyDocument(try control.client().done("GET", "/v1/journeys/*", naming: id)).json else {
            throw CommandExit.failure("the journal holds no page of this journey")
        }
        Console.print(TerminalText.json(document) + "\n")
    }
}
