import ArgumentParser
import Operation

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write recorded traffic to an HTTP Archive (HAR).",
        discussion: """
            The network panel of a browser's developer tools opens an HTTP Archive (HAR 1.2). Aliases replace the \
            secrets. The filters are those of usher flows. The archive has no tunnels that were not opened: their \
            content is unknown.
            """)

    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp("The file to write; - is standard output.", valueName: "file"))
    var har: String

    @Flag(help: "Include the secrets that the journal keeps (journal.reveal). Keep the file private.")
    var reveal = false

    @Argument(help: ArgumentHelp("Which flows, such as status=4xx.", valueName: "filter"))
    var filter: [String] = []

    func validate() throws {
        guard !har.isEmpty else { throw ValidationError("--har expects the name of a file, or -") }
    }

    func run() throws {
        let terms = try FlowTerms.given(filter)
        let client = try control.client()
        let pages = FlowPages(terms, reveals: reveal) { try client.done("GET", $0) }
        var progress = ProgressLine(of: "flows")
        let file = try CommandContext.reporting { () throws(FileError) in
            try OutputFile(har == "-" ? nil : har)
        }
        let count = try pages.archive(
            { bytes in try CommandContext.reporting { () throws(FileError) in try file.write(bytes) } },
            progress: { progress.show($0) })
        progress.end()
        if har != "-" { Console.note("\(count) flows are in \(har)\n") }
    }
}
